"""The families of models that we know: what each wants for inputs."""
