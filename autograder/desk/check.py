def check(*a): pass
