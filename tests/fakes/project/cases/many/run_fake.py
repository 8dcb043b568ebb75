def row00(x):
    return {"y": x * x, "dx": x + x}


def row01(x):
    return {"y": x * x, "dx": x + x}


def row02(x):
    return {"y": x * x, "dx": x + x}


def row03(x):
    return {"y": x * x, "dx": x + x}


def row04(x):
    return {"y": x * x, "dx": x + x}


def row05(x):
    return {"y": x * x, "dx": x + x}


def row06(x):
    return {"y": x * x, "dx": x + x}


def row07(x):
    return {"y": x * x, "dx": x + x}


def row08(x):
    return {"y": x * x, "dx": x + x}


def row09(x):
    return {"y": x * x, "dx": x + x}


def row10(x):
    return {"y": x * x, "dx": x + x}


def row11(x):
    return {"y": x * x, "dx": x + x}
