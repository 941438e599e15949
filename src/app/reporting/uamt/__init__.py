"""The report of uncertainty-aware detector scores: typed, as a page, and as figures."""
