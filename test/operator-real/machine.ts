/**
 * One machine of the rig: process 1 of namespaces of its own for mounts, processes, network and host name. It runs
 * containerd, the kubelet, kube-proxy and CoreDNS until its standard input ends. Its first line of input says what it
 * is.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createLog, isServed, systemClock } from "@causeway/foundation";
import { stringify } from "yaml";
import {
  command,
  containerdConfiguration,
  furnish,
  keepRunning,
  makeCgroup,
  networkTemplate,
  paths,
  writeOwn,
} from "@causeway/machine-agent";
import { DNS_ADDRESS, POD_NETWORK, type MachineFacts } from "./facts.ts";

/** Folders of the host that pods of the operator mount: those of this machine are on its disk. */
const OWN_FOLDERS = [
  "/etc/openvswitch",
  "/lib/modules",
  "/etc/libvirt",
  "/var/lib/libvirt",
  "/var/lib/neutron",
  "/var/lib/nova",
  "/var/lib/claims",
];
const KUBECONFIG = "/etc/kubernetes/kubelet.conf";
const PROCESSORS = 8;
const PROCESSOR_SHARES = `${1024 * PROCESSORS}`;
const COREFILE = "/etc/kubernetes/Corefile";

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  const ending = new AbortController();
  lines.once("close", () => ending.abort());
  const { signal } = ending;
  const line = await new Promise<string>((resolve) => lines.once("line", resolve));
  const machine = JSON.parse(line) as MachineFacts;
  const log = createLog({ level: "info" });
  // The host's /run has the sockets of another Open vSwitch.
  await command("mount", ["-t", "tmpfs", "-o", "mode=0755", "machine-run", "/run"]);
  await furnish(machine.name, machine.disk, signal);
  for (const folder of OWN_FOLDERS) {
    mkdirSync(join(machine.disk, "root", folder), { recursive: true });
    mkdirSync(folder, { recursive: true });
    await command("mount", ["--bind", join(machine.disk, "root", folder), folder]);
    await command("mount", ["--make-rshared", folder]);
  }
  await makeCgroup(machine.cgroup, PROCESSORS);
  // A machine with fifty processes is not one process among those of its host.
  writeFileSync(join("/sys/fs/cgroup/cpu", dirname(machine.cgroup), "cpu.shares"), PROCESSOR_SHARES);
  await writeOwn(KUBECONFIG, machine.kubeconfig);
  await writeOwn(paths.authority, machine.authority);
  await writeOwn(paths.kubeletConfiguration, kubeletConfiguration(machine));
  await writeOwn(paths.containerdConfiguration, containerdConfiguration());
  await writeOwn(paths.networkTemplate, networkTemplate());
  await writeOwn(COREFILE, corefile());
  await command("ip", ["address", "replace", `${DNS_ADDRESS}/32`, "dev", "lo"]);
  const using = { clock: systemClock, log };
  const start = (name: string, file: string, ...args: string[]) => keepRunning({ name, file, args }, using, signal);
  const running = [start("containerd", "containerd", "--config", paths.containerdConfiguration)];
  while (!(await isServed(paths.containerdSocket)) && !signal.aborted) await sleep(100);
  // Unpacked now: while a container waits for that, its kubelet gives up after two minutes.
  for (const file of archives(machine))
    await command(
      "ctr",
      ["--address", paths.containerdSocket, "--namespace", "k8s.io", "images", "import", file],
      signal,
    );
  const { programs } = machine;
  running.push(
    start(
      "kubelet",
      join(programs, "kubelet"),
      `--config=${paths.kubeletConfiguration}`,
      `--kubeconfig=${KUBECONFIG}`,
      `--hostname-override=${machine.name}`,
      `--node-ip=${machine.address}`,
    ),
    start(
      "kube-proxy",
      join(programs, "kube-proxy"),
      `--kubeconfig=${KUBECONFIG}`,
      "--proxy-mode=nftables",
      `--cluster-cidr=${POD_NETWORK}`,
      `--hostname-override=${machine.name}`,
      "--conntrack-max-per-core=0",
    ),
    start("coredns", join(programs, "coredns"), "-conf", COREFILE),
  );
  process.stdout.write(`${machine.name} runs\n`);
  await Promise.all(running);
}

const archives = ({ images }: MachineFacts): string[] =>
  images.flatMap((path) =>
    path.endsWith(".tar")
      ? [path]
      : readdirSync(path)
          .filter((name) => name.endsWith(".tar"))
          .map((name) => join(path, name)),
  );

/** Pods ask for what a whole cloud of three control nodes would use; all of them are on one host here. */
function kubeletConfiguration({ cgroup }: MachineFacts): string {
  return stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: paths.authority },
    },
    authorization: { mode: "Webhook" },
    cgroupDriver: "cgroupfs",
    cgroupRoot: cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: "cluster.local",
    containerRuntimeEndpoint: `unix://${paths.containerdSocket}`,
    evictionHard: { "memory.available": "50Mi", "nodefs.available": "0%", "imagefs.available": "0%" },
    imageGCHighThresholdPercent: 100,
    maxPods: 110,
    serializeImagePulls: false,
  });
}

const corefile = () => `.:53 {
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${KUBECONFIG}
    ttl 5
  }
  cache 5
}
`;

await main();
