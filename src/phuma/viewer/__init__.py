"""Draw motion: in the browser, as films, as stills and as reports."""
