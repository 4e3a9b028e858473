"""What to change about each finding, with the command, what it needs to help, what it risks, and how to confirm it."""

from tcpstall.remedies.case import Case
from tcpstall.remedies.remedy import Check, Platform, Remedy, Step
from tcpstall.remedies.treatment import Treatment, services_by_end, treatments

__all__ = ["Case", "Check", "Platform", "Remedy", "Step", "Treatment", "services_by_end", "treatments"]
