#!/usr/bin/env bash
# Asks a running service what its own document says can be asked, right and wrong, and holds the answers to the document:
# no 5xx, no status, media type or shape that the document does not know. `scripts/setup.sh --test` installs Schemathesis.
#   scripts/schemathesis.sh ADDRESS [EXAMPLES] [SEED]
#   scripts/schemathesis.sh http://127.0.0.1:8080 200
# The service should be one to try things out with: matches are started and ended by the hundred.
set -euo pipefail

address=${1:?usage: scripts/schemathesis.sh ADDRESS [EXAMPLES] [SEED]}
examples=${2:-20}
seed=${3:-20}
root=$(cd "$(dirname "$0")/.." && pwd)
program=$root/target/schemathesis/bin/schemathesis
if [ ! -x "$program" ]; then
    echo "Schemathesis is missing: run scripts/setup.sh --test" >&2
    exit 2
fi

# Streams do not end, and a laptop of a championship is somebody else's: tests of their own see to them.
cd "$root/target"
exec "$program" run "$address/api/v1/openapi.json" --no-color \
    --phases examples,coverage,fuzzing --max-examples "$examples" --seed "$seed" --generation-database none \
    --exclude-path-regex '/(events|live|picture\.mjpeg)$|\.mjpeg$' --request-timeout 30 --continue-on-failure \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance
