#!/bin/sh
# Runs once, in a new PostgreSQL container: creates the role of the service, which is not a superuser, and its database.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$PALIMPSEST_PASSWORD" --username "$POSTGRES_USER" <<'EOF'
create role palimpsest login password :'password';
create database palimpsest owner palimpsest;
EOF
