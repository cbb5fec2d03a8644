#!/bin/sh
# Writes the secrets of a new installation to .env beside compose.yaml, once. Back up that file: without it, sealed values
# are lost.
set -eu
file=${1:-"$(dirname "$0")/../.env"}
[ -e "$file" ] && { echo "$file exists already and was not changed"; exit 0; }
secret() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
umask 077
cat >"$file" <<EOF
JWT_SECRET=$(secret)
ENCRYPTION_KEY=$(secret)
API_KEY_PEPPER=$(secret)
SVC_AUDIT_HMAC_KEY=$(secret)
SVC_SETUP_TOKEN=$(secret)
METRICS_TOKEN=$(secret)
POSTGRES_PASSWORD=$(secret)
EOF
echo "wrote $file"
