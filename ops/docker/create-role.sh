#!/bin/sh
# Runs once, in a new PostgreSQL container: the service signs in as a role of its own, never as the superuser.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$PALIMPSEST_PASSWORD" --username "$POSTGRES_USER" <<'EOF'
create role palimpsest login password :'password';
create database palimpsest owner palimpsest;
EOF
