import keras
import tensorflow as tf


def _call(layer, weights, x, state):
    layer.build(x.shape)
    return layer.stateless_call(weights, [v.value for v in layer.non_trainable_variables], x, initial_state=state)[0]


def _cell(cell, weights, x, state):
    cell.build(x.shape)
    return cell.stateless_call(weights, [v.value for v in cell.non_trainable_variables], x, state)[0]


def _summed(wx, wh, bx, bh):
    return [tf.transpose(wx), tf.transpose(wh), bx + bh]


def _gru(wx, wh, bx, bh):
    def order(t):
        r, z, n = tf.split(t, 3)  # to update, reset, new
        return tf.concat([z, r, n], axis=0)

    return [tf.transpose(order(wx)), tf.transpose(order(wh)), tf.stack([order(bx), order(bh)])]


def _options(x, wh):
    return {"units": wh.shape[-1], "dtype": x.dtype.name}


def _flat(parts):
    return tf.concat([tf.reshape(part, [-1]) for part in parts], axis=0)


def rnn_cell(x, h, wx, wh, bx, bh):
    return _cell(keras.layers.SimpleRNNCell(**_options(x, wh)), _summed(wx, wh, bx, bh), x, [h])[0]


def gru_cell(x, h, wx, wh, bx, bh):
    return _cell(keras.layers.GRUCell(**_options(x, wh)), _gru(wx, wh, bx, bh), x, [h])[0]


def lstm_cell(x, h, c, wx, wh, bx, bh):
    _, state = _cell(keras.layers.LSTMCell(**_options(x, wh)), _summed(wx, wh, bx, bh), x, [h, c])
    return tf.concat(state, axis=-1)


def rnn(x, h, wx, wh, bx, bh):
    layer = keras.layers.SimpleRNN(**_options(x, wh), return_sequences=True, return_state=True)
    return _flat(_call(layer, _summed(wx, wh, bx, bh), x, [h]))


def rnn_relu(x, h, wx, wh, bx, bh):
    layer = keras.layers.SimpleRNN(**_options(x, wh), activation="relu", return_sequences=True, return_state=True)
    return _flat(_call(layer, _summed(wx, wh, bx, bh), x, [h]))


def gru(x, h, wx, wh, bx, bh):
    layer = keras.layers.GRU(**_options(x, wh), return_sequences=True, return_state=True)
    return _flat(_call(layer, _gru(wx, wh, bx, bh), x, [h]))


def lstm(x, h, c, wx, wh, bx, bh):
    layer = keras.layers.LSTM(**_options(x, wh), return_sequences=True, return_state=True)
    return _flat(_call(layer, _summed(wx, wh, bx, bh), x, [h, c]))


def gru_both(x, h, wx, wh, bx, bh, rh, rwx, rwh, rbx, rbh):
    layer = keras.layers.Bidirectional(keras.layers.GRU(**_options(x, wh), return_sequences=True), dtype=x.dtype.name)
    return _call(layer, [*_gru(wx, wh, bx, bh), *_gru(rwx, rwh, rbx, rbh)], x, [h, rh])


def lstm_both(x, h, c, wx, wh, bx, bh, rh, rc, rwx, rwh, rbx, rbh):
    layer = keras.layers.Bidirectional(keras.layers.LSTM(**_options(x, wh), return_sequences=True), dtype=x.dtype.name)
    return _call(layer, [*_summed(wx, wh, bx, bh), *_summed(rwx, rwh, rbx, rbh)], x, [h, c, rh, rc])
