"""The experiment of Du and Zhan (2003): trees from randomised answers on Adult."""
