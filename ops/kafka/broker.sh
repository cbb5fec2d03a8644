#!/bin/sh
# Runs a Kafka broker without containers: one KRaft node on the loopback interface. Maven downloads the jars to a cache.
#
#   ops/kafka/broker.sh start  [--port 19092] [--dir .cache/kafka] [--fresh]   prints host:port when it is ready
#   ops/kafka/broker.sh stop   [--port 19092] [--dir .cache/kafka]             SIGTERM, waits until it has exited
#   ops/kafka/broker.sh kill   [--port 19092] [--dir .cache/kafka]             SIGKILL, for crash tests; keeps the data
#   ops/kafka/broker.sh status [--port 19092] [--dir .cache/kafka]             prints the address; exits with 1 when down
#
# The controller listens on port + 1. `--fresh` deletes the topics of earlier starts.
# KAFKA_VERSION selects the version (default 4.1.1; 3.9.1 if Maven cannot download that).
# Standard output contains the address only: TEST_KAFKA_BROKERS=$(ops/kafka/broker.sh start)
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
port=19092
dir=$root/.cache/kafka
fresh=no
wanted=${KAFKA_VERSION:-4.1.1}
fallback=3.9.1

say() { printf '%s\n' "kafka: $*" >&2; }
fail() { say "$*"; exit 1; }
usage() { sed -n '4,7s/^# *//p' "$0" >&2; exit 2; }

[ $# -ge 1 ] || usage
action=$1
shift
while [ $# -gt 0 ]; do
  case $1 in
    --port) [ $# -ge 2 ] || usage; port=$2; shift 2 ;;
    --dir) [ $# -ge 2 ] || usage; dir=$2; shift 2 ;;
    --fresh) fresh=yes; shift ;;
    *) usage ;;
  esac
done
case $port in '' | *[!0-9]*) fail "the port must be a number, not '$port'" ;; esac

mkdir -p "$dir"
dir=$(CDPATH='' cd -- "$dir" && pwd)
node_dir=$dir/node-$port
pid_file=$node_dir/pid
log=$node_dir/broker.log
properties=$node_dir/server.properties
address=127.0.0.1:$port

java_command() {
  if [ -n "${JAVA_HOME:-}" ] && [ -x "$JAVA_HOME/bin/java" ]; then echo "$JAVA_HOME/bin/java"; else command -v java || true; fi
}

require_java() {
  java=$(java_command)
  [ -n "$java" ] || fail 'java is missing: a broker needs Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless)'
  major=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
  [ "${major:-0}" -ge 17 ] || fail "java ${major:-of unknown version} is too old: a broker needs Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless)"
}

# Prints the process id of the broker. Checks the command line, because another process may have got the same id since.
running_pid() {
  [ -f "$pid_file" ] || return 1
  pid=$(cat "$pid_file")
  kill -0 "$pid" 2>/dev/null || return 1
  if [ -r "/proc/$pid/cmdline" ]; then tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF "$properties" || return 1; fi
  echo "$pid"
}

# Checks by a whole client handshake: API versions, then the description of the cluster.
answers() { node "$here/ready.mjs" "$address" 2>/dev/null; }

fetch_jars() { # version
  libs=$dir/libs-$1
  [ -d "$libs" ] && return 0
  command -v mvn >/dev/null || fail 'mvn is missing: the jars come through Maven (Debian: apt-get install maven)'
  say "fetching Kafka $1 into $libs"
  part=$libs.part.$$
  # Run Maven outside the source tree, so that it leaves no files there.
  if (cd "$dir" && mvn -B -q -f "$here/pom.xml" "-Dkafka.version=$1" dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$part" >&2); then
    # A concurrent start may have finished first.
    if [ -d "$libs" ]; then rm -rf "$part"; else mv "$part" "$libs"; fi
  else
    rm -rf "$part"
    return 1
  fi
}

start() {
  if pid=$(running_pid); then
    answers || fail "process $pid runs on $address but does not answer; see $log"
    say "already running (process $pid)"
    echo "$address"
    return
  fi
  command -v node >/dev/null || fail 'node is missing: the start waits until a client (ops/kafka/ready.mjs) is answered'
  require_java
  fetch_jars "$wanted" || {
    [ -z "${KAFKA_VERSION:-}" ] || fail "Kafka $wanted could not be fetched through Maven"
    say "Kafka $wanted could not be fetched, trying $fallback"
    fetch_jars "$fallback" || fail "neither Kafka $wanted nor $fallback could be fetched through Maven"
  }
  if answers; then fail "something else answers on $address: choose another --port"; fi

  [ "$fresh" = no ] || rm -rf "$node_dir"
  mkdir -p "$node_dir"
  sed -e "s|@PORT@|$port|g" -e "s|@CONTROLLER_PORT@|$((port + 1))|g" -e "s|@DATA@|$node_dir/data|g" "$here/server.properties" >"$properties"
  if [ ! -f "$node_dir/data/meta.properties" ]; then
    # A cluster id is any 22 characters of base64url.
    id=$(od -An -N11 -tx1 /dev/urandom | tr -d ' \n')
    "$java" -Xmx128m -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$libs/*" kafka.tools.StorageTool \
      format -t "$id" -c "$properties" >"$log" 2>&1 || { cat "$log" >&2; fail 'the data folder could not be formatted'; }
  fi
  # Start a new session, so that Ctrl-C in the terminal does not stop the broker.
  detach=$(command -v setsid || true)
  $detach nohup "$java" -Xms128m -Xmx512m -XX:+UseG1GC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp "$libs/*" kafka.Kafka "$properties" >>"$log" 2>&1 </dev/null &
  echo $! >"$pid_file"

  tries=0
  until answers; do
    running_pid >/dev/null || { tail -n 40 "$log" >&2; fail "the broker ended at its start; all of its log: $log"; }
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || { tail -n 40 "$log" >&2; fail "the broker does not answer on $address; all of its log: $log"; }
    sleep 0.2
  done
  say "ready (process $(cat "$pid_file"), ${libs##*/libs-}, log $log)"
  echo "$address"
}

end() { # signal
  pid=$(running_pid) || { say "not running on $address"; rm -f "$pid_file"; return; }
  kill "-$1" "$pid"
  tries=0
  while kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -eq 100 ]; then say "process $pid does not end, killing it"; kill -KILL "$pid" 2>/dev/null || true; fi
    [ "$tries" -lt 150 ] || fail "process $pid does not end"
    sleep 0.2
  done
  rm -f "$pid_file"
  say "stopped (process $pid)"
}

case $action in
  start) start ;;
  stop) end TERM ;;
  kill) end KILL ;;
  status)
    if pid=$(running_pid) && answers; then say "running (process $pid)"; echo "$address"; else say "not running on $address"; exit 1; fi
    ;;
  *) usage ;;
esac
