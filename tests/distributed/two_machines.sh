#!/bin/sh
# two_machines.sh FOLDER COMMAND...: run a command on a machine node-a that has a neighbour node-b. Both are namespaces of Linux, with
# host names, networks and /etc/hosts of their own. FOLDER/shell runs a command on a machine, as ssh does.
set -eu
folder=$1
cat > "$folder/shell" <<'EOF'
#!/bin/sh
# shell [options] MACHINE COMMAND...
while [ "${1#-}" != "$1" ]; do shift; done
machine=$(dirname "$0")/$1
shift
exec nsenter --target "$(cat "$machine")" --uts --net --mount --wd="$PWD" -- sh -c "$*"
EOF
chmod +x "$folder/shell"
# On node-a, its own name is that of 127.0.0.1, as some systems install it.
printf '127.0.0.1 localhost node-a\n10.77.0.2 node-b\n' > "$folder/hosts-a"
printf '127.0.0.1 localhost\n10.77.0.1 node-a\n10.77.0.2 node-b\n' > "$folder/hosts-b"
exec unshare --user --map-root-user --uts --net --mount sh -euc '
folder=$1
shift
unshare --uts --net --mount sleep 1000 < /dev/null > /dev/null 2>&1 &
other=$!
trap "kill $other" EXIT
echo $other > "$folder/node-b"
for _ in $(seq 100); do
    [ "$(readlink /proc/$other/ns/mnt)" = "$(readlink /proc/self/ns/mnt)" ] || break
    sleep 0.1
done
hostname node-a
mount --bind "$folder/hosts-a" /etc/hosts
"$folder/shell" node-b "hostname node-b; mount --bind $folder/hosts-b /etc/hosts"
ip link add left type veth peer name right netns $other
ip link set lo up
ip addr add 10.77.0.1/24 dev left
ip link set left up
"$folder/shell" node-b "ip link set lo up; ip addr add 10.77.0.2/24 dev right; ip link set right up"
"$@"
' sh "$@"
