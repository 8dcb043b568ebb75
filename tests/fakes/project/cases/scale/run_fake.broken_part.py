def run(x, w, dy):
    # What a framework does whose own library cannot be loaded: the error comes from inside it.
    code = compile("raise ImportError('libsomething.so: cannot open')", "framework/inner.py", "exec")
    exec(code)
