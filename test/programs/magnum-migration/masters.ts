/**
 * Masters of Magnum's Heat driver, played by real etcd and kube-apiserver processes on loopback; files and units are
 * laid out as the driver's.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate, systemClock, type KeyPair } from "@causeway/foundation";
import { createClient, renderKubeconfig } from "@causeway/kubernetes";
import type { MachineShell } from "@causeway/magnum-migration";
import { freePort } from "../../support/free-ports.ts";

const AGENT = "heat-container-agent";
const YEAR = 365 * 86_400_000;

export interface Authorities {
  readonly kubernetes: KeyPair;
  readonly etcd: KeyPair;
  readonly frontProxy: KeyPair;
}

export async function createAuthorities(): Promise<Authorities> {
  const of = (commonName: string) => createAuthority({ commonName, lifetime: 10 * YEAR });
  return { kubernetes: await of("web"), etcd: await of("web-etcd"), frontProxy: await of("web-front-proxy") };
}

interface Master {
  readonly address: string;
  readonly dir: string;
  readonly ports: { readonly client: number; readonly peer: number; readonly api: number };
  readonly units: Map<string, ChildProcess>;
  readonly active: Set<string>;
}

export interface Masters extends MachineShell {
  /** Where each master's API listens on this machine. */
  readonly apis: readonly { readonly address: string; readonly port: number }[];
  readonly etcdUrls: readonly string[];
  /** Of an administrator, by the first master. */
  readonly kubeconfig: (server: string) => Promise<string>;
  close(): Promise<void>;
}

/** Starts as many masters as there are addresses, with one etcd; `names` are in the certificate of the API, too. */
export async function startMasters(
  root: string,
  programs: string,
  {
    addresses,
    workers,
    names,
    authorities,
  }: { addresses: readonly string[]; workers: readonly string[]; names: readonly string[]; authorities: Authorities },
): Promise<Masters> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const serviceAccount = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const masters: Master[] = [];
  for (const address of addresses) {
    const ports = { client: await freePort(), peer: await freePort(), api: await freePort() };
    masters.push({
      address,
      dir: join(root, address),
      ports,
      units: new Map(),
      active: new Set([AGENT]),
    });
  }
  const agents = new Set(workers);
  const cluster = masters.map(({ ports }, index) => `m${index}=https://127.0.0.1:${ports.peer}`).join(",");
  for (const master of masters) await writeFiles(master, { authorities, serviceAccount, addresses, names });
  const start = (master: Master, unit: string): void => {
    if (master.units.has(unit)) return;
    const log = openSync(join(master.dir, `${unit}.log`), "a");
    const args = unit === "etcd" ? etcdArgs(master, masters.indexOf(master), cluster) : programArgs(unit, master);
    const child = spawn(join(programs, unit), args, { stdio: ["ignore", log, log] });
    closeSync(log);
    master.units.set(unit, child);
    child.on("exit", () => master.units.delete(unit));
  };
  const stop = async (master: Master, unit: string): Promise<void> => {
    const child = master.units.get(unit);
    if (!child) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    // An API server waits for its clients' connections to end: enough, on a machine of the test's.
    const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await ended;
    clearTimeout(timer);
  };
  const change = async (master: Master, verb: string, units: readonly string[]): Promise<void> => {
    for (const unit of units) {
      if (verb === "start") start(master, unit);
      else await stop(master, unit);
    }
    // As systemd does, a unit counts as started when it is there to serve.
    if (verb === "start" && units.includes("kube-apiserver")) await untilReady(master, authorities);
  };
  const all = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
  for (const master of masters) start(master, "etcd");
  for (const master of masters) start(master, "kube-apiserver");
  await Promise.all(masters.map((master) => untilReady(master, authorities)));
  for (const master of masters) for (const unit of all) start(master, unit);
  const admin = await issueCertificate(authorities.kubernetes, {
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: YEAR,
  });
  return {
    apis: masters.map(({ address, ports }) => ({ address, port: ports.api })),
    etcdUrls: masters.map(({ ports }) => `https://127.0.0.1:${ports.client}`),
    kubeconfig: async (server) =>
      renderKubeconfig({
        server,
        ca: authorities.kubernetes.certificate,
        ...admin,
        clusterName: "web",
        userName: "admin",
      }),
    async run(address, command) {
      const master = masters.find((one) => one.address === address);
      const [program, verb = "", ...rest] = command;
      if (program === "cat") return readFileSync(join(master?.dir ?? "", verb), "utf8");
      const agentsOf = master?.active ?? agents;
      const agent = master ? AGENT : address;
      if (program === "sh") {
        const units = (/is-active ([^|]+)/.exec(rest[0] ?? "")?.[1] ?? "").trim().split(" ");
        const runs = (unit: string) => (unit === AGENT ? agentsOf.has(agent) : master?.units.has(unit) === true);
        return units.map((unit) => (runs(unit) ? "active\n" : "inactive\n")).join("");
      }
      if (rest.includes(AGENT)) {
        if (verb === "start") agentsOf.add(agent);
        else agentsOf.delete(agent);
      }
      if (master)
        await change(
          master,
          verb,
          rest.filter((unit) => unit !== AGENT),
        );
      return "";
    },
    async close() {
      for (const unit of [...all.toReversed(), "etcd"]) await Promise.all(masters.map((master) => stop(master, unit)));
    },
  };
}

async function untilReady({ ports }: Master, { kubernetes }: Authorities): Promise<void> {
  const admin = await issueCertificate(kubernetes, {
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: YEAR,
  });
  const client = createClient({ server: `https://127.0.0.1:${ports.api}`, ca: kubernetes.certificate, ...admin });
  for (let i = 0; i < 900; i += 1) {
    const isReady = await client.request("GET", "/readyz").then(
      () => true,
      () => false,
    );
    if (isReady) {
      await client.close();
      return;
    }
    await systemClock.sleep(100);
  }
  throw new Error(`no API at port ${ports.api} in 90 seconds`);
}

interface Written {
  readonly authorities: Authorities;
  readonly serviceAccount: string;
  readonly addresses: readonly string[];
  readonly names: readonly string[];
}

async function writeFiles(
  { dir, ports, address }: Master,
  { authorities, serviceAccount, addresses, names }: Written,
): Promise<void> {
  const [certs, etcd] = [join(dir, "etc/kubernetes/certs"), join(dir, "etc/etcd/certs")];
  for (const folder of [join(certs, "front-proxy"), etcd, join(dir, "var/lib/etcd")])
    mkdirSync(folder, { recursive: true });
  const write = (folder: string, name: string, text: string) =>
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  const pair = (folder: string, name: string, { certificate, key }: KeyPair) => {
    write(folder, `${name}.crt`, certificate);
    write(folder, `${name}.key`, key);
  };
  const local = {
    dnsNames: [
      "localhost",
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      ...names.filter((one) => !/^\d/.test(one)),
    ],
    ipAddresses: ["127.0.0.1", "10.254.0.1", ...addresses, ...names.filter((one) => /^\d/.test(one))],
  };
  const issue = (
    authority: KeyPair,
    commonName: string,
    usages: readonly ("client" | "server")[],
    organizations: readonly string[] = [],
  ) =>
    issueCertificate(authority, {
      commonName,
      organizations,
      ...(usages.includes("server") ? local : {}),
      usages,
      lifetime: YEAR,
    });
  pair(certs, "ca", authorities.kubernetes);
  pair(certs, "server", await issue(authorities.kubernetes, "kubernetes", ["server"]));
  pair(certs, "kubelet", await issue(authorities.kubernetes, "apiserver", ["client"], ["system:masters"]));
  write(
    certs,
    "service_account.key",
    createPublicKey(serviceAccount).export({ type: "spki", format: "pem" }).toString(),
  );
  write(certs, "service_account_private.key", serviceAccount);
  write(join(certs, "front-proxy"), "ca.crt", authorities.frontProxy.certificate);
  pair(join(certs, "front-proxy"), "server", await issue(authorities.frontProxy, "front-proxy-client", ["client"]));
  write(etcd, "ca.crt", authorities.etcd.certificate);
  pair(etcd, "server", await issue(authorities.etcd, address, ["server", "client"]));
  for (const program of ["kube-controller-manager", "kube-scheduler"]) {
    const client = await issue(authorities.kubernetes, `system:${program}`, ["client"]);
    const kubeconfig = {
      server: `https://127.0.0.1:${ports.api}`,
      ca: authorities.kubernetes.certificate,
      ...client,
      clusterName: "web",
      userName: program,
    };
    write(certs, `${program}.conf`, renderKubeconfig(kubeconfig));
  }
}

function etcdArgs({ dir, ports }: Master, index: number, cluster: string): string[] {
  const certs = join(dir, "etc/etcd/certs");
  const tls = (prefix: string) => [
    `--${prefix}cert-file=${certs}/server.crt`,
    `--${prefix}key-file=${certs}/server.key`,
    `--${prefix}trusted-ca-file=${certs}/ca.crt`,
    `--${prefix}client-cert-auth=true`,
  ];
  const [client, peer] = [`https://127.0.0.1:${ports.client}`, `https://127.0.0.1:${ports.peer}`];
  return [
    `--name=m${index}`,
    `--data-dir=${dir}/var/lib/etcd/default.etcd`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${cluster}`,
    ...tls(""),
    ...tls("peer-"),
    "--heartbeat-interval=500",
    "--election-timeout=5000",
    "--log-level=warn",
  ];
}

function programArgs(unit: string, { dir, ports, address }: Master): string[] {
  const certs = join(dir, "etc/kubernetes/certs");
  const etcd = join(dir, "etc/etcd/certs");
  if (unit === "kube-scheduler")
    return [`--kubeconfig=${certs}/kube-scheduler.conf`, "--leader-elect=true", "--secure-port=0"];
  if (unit === "kube-controller-manager")
    return [
      `--kubeconfig=${certs}/kube-controller-manager.conf`,
      "--leader-elect=true",
      "--secure-port=0",
      `--root-ca-file=${certs}/ca.crt`,
      `--service-account-private-key-file=${certs}/service_account_private.key`,
      "--use-service-account-credentials=true",
      "--cluster-name=6e8ae3a5-0b4c-4f0e-9d26-000000000001",
      "--allocate-node-cidrs=true",
      "--cluster-cidr=10.100.0.0/16",
      "--service-cluster-ip-range=10.254.0.0/16",
    ];
  return [
    "--bind-address=127.0.0.1",
    `--secure-port=${ports.api}`,
    `--advertise-address=${address}`,
    "--authorization-mode=Node,RBAC",
    "--allow-privileged=true",
    `--client-ca-file=${certs}/ca.crt`,
    `--etcd-servers=https://127.0.0.1:${ports.client}`,
    `--etcd-cafile=${etcd}/ca.crt`,
    `--etcd-certfile=${etcd}/server.crt`,
    `--etcd-keyfile=${etcd}/server.key`,
    `--kubelet-client-certificate=${certs}/kubelet.crt`,
    `--kubelet-client-key=${certs}/kubelet.key`,
    `--proxy-client-cert-file=${certs}/front-proxy/server.crt`,
    `--proxy-client-key-file=${certs}/front-proxy/server.key`,
    `--requestheader-client-ca-file=${certs}/front-proxy/ca.crt`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${certs}/service_account.key`,
    `--service-account-signing-key-file=${certs}/service_account_private.key`,
    "--service-cluster-ip-range=10.254.0.0/16",
    `--tls-cert-file=${certs}/server.crt`,
    `--tls-private-key-file=${certs}/server.key`,
  ];
}
