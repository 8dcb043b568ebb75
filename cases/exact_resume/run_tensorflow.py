import tempfile

import keras
import tensorflow as tf

STEPS, AFTER = 6, 3


def _train(make, x, target, w, stop):
    weight, optimizer, losses = tf.Variable(w), make(), []
    for i in range(STEPS):
        if i == stop:
            with tempfile.TemporaryDirectory() as folder:
                saved = tf.train.Checkpoint(weight=weight, optimizer=optimizer).write(f"{folder}/saved")
                weight, optimizer = tf.Variable(tf.zeros_like(w)), make()
                optimizer.build([weight])
                tf.train.Checkpoint(weight=weight, optimizer=optimizer).read(saved).assert_consumed()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(tf.matmul(x[i], weight, transpose_b=True)) - target[i]) ** 2)
        optimizer.apply([tape.gradient(loss, weight)], [weight])
        losses.append(loss)
    return tf.stack(losses), tf.convert_to_tensor(weight)


def _both(make, x, target, w):
    losses, end = _train(make, x, target, w, stop=None)
    resumed, resumed_end = _train(make, x, target, w, stop=AFTER)
    return {"losses": losses, "w": end, "loss_quotient": (resumed / losses)[AFTER:], "w_quotient": resumed_end / end}


def adamw(x, target, w):
    return _both(lambda: keras.optimizers.AdamW(2.0**-5, weight_decay=2.0**-4, beta_1=0.9, beta_2=0.999, epsilon=1e-8), x, target, w)


def momentum(x, target, w):
    return _both(lambda: keras.optimizers.SGD(2.0**-5, momentum=0.9), x, target, w)
