"""The experiment of paper 003: trees from disguised answers on Adult."""
