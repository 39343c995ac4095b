"""Task templates, their scripted solutions, and judges that read the phone's facts."""
