"""Reports: typed results with a schema, as strict JSON for machines, and as pages and figures for people.

`schema` and the typed reports (`mutate`) are cheap to import; `html` brings jinja2, `figures` matplotlib.
"""
