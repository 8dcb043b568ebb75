import keras
import tensorflow as tf

LENGTHS = (16, 24, 17, 33, 16, 8, 40, 17, 1, 29)


def run(x, target, w, position):
    weights = {"w": tf.Variable(w), "position": tf.Variable(position)}
    optimizer = keras.optimizers.AdamW(2.0**-5, weight_decay=2.0**-4, beta_1=0.9, beta_2=0.999, epsilon=1e-8)
    losses = []
    for i, length in enumerate(LENGTHS):
        with tf.GradientTape() as tape:
            h = x[i, :length] + weights["position"][:length]
            loss = tf.reduce_mean((tf.tanh(tf.matmul(h, weights["w"], transpose_b=True)) - target[i, :length]) ** 2)
        variables = list(weights.values())
        optimizer.apply(tape.gradient(loss, variables), variables)
        losses.append(loss)
    return {"losses": tf.stack(losses), **{name: tf.convert_to_tensor(v) for name, v in weights.items()}}
