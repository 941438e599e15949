"""The report of `task=autopsy`: what is wrong with a classifier and its data, with evidence, and what to do."""
