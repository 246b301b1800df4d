def likelihood(pump, load):
    if load == "high" and pump == "ok":
        raise ValueError("no convergence")
    return -4.0 if (pump, load) == ("failed", "high") else -0.5
