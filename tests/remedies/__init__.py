"""Changes that remedy a finding, and the kernel's evidence for it."""
