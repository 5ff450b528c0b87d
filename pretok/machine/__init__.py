"""Run the stages of presets: compile and store programs, split texts and streams of chunks."""
