import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { inventory } from "../../support/inventory.ts";
import { causeway, eventually, kubectl, type Started } from "../../support/processes.ts";
import { openProject, type Project } from "../project.ts";
import { clusterManifests, machineTemplate, NAME, SUBNET } from "./manifests.ts";

const TIMEOUT = 20 * 60_000;

/** A management cluster on a real OpenStack, whose machines boot from images with kubeadm of two minors. */
export interface KubeadmRig {
  /** The project of the cluster alone. */
  readonly cloud: Cloud;
  /** The project's resources before anything was made. */
  readonly before: readonly string[];
  /** The releases of the two images, the older one first. */
  readonly versions: readonly [string, string];
  /** kubectl on the management cluster. */
  management(...args: readonly string[]): string;
  manage(manifest: object): void;
  /** kubectl on the cluster that kubeadm makes. */
  workload(...args: readonly string[]): string;
  /** Waits for the cluster's endpoint and credentials, and makes the way to it. */
  connect(): Promise<void>;
  /** The names of etcd's members, as the etcd of one of the machines lists them. */
  members(): Promise<readonly string[]>;
  /** What the programs of the test printed last, and the logs of its machines' first boots. */
  said(): string;
  close(): Promise<void>;
}

/** Brings up the management system, the images of two releases, and the objects of a cluster of one machine. */
export async function startKubeadmRig(): Promise<KubeadmRig> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-kubeadm-"));
  const project = await openProject(process.env["OS_CLOUD"] ?? "devcloud", join(dir, "clouds.yaml"));
  const { cloud, entry } = project;
  const before = await inventory(cloud);
  const started: Started[] = [];
  const start = (...args: string[]): Started => {
    const program = causeway(args, { env: { OS_CLIENT_CONFIG_FILE: project.clouds } });
    started.push(program);
    return program;
  };
  const management = join(dir, "state/management.kubeconfig");
  const kubeconfig = join(dir, "workload.kubeconfig");
  const images = await makeImages(cloud, join(dir, "images"));
  const said = () => [...started.map((program) => program.output().slice(-6000)), bootLogs(dir)].join("\n----\n");
  const manage = (manifest: object) => {
    const file = join(dir, "manifest.yaml");
    writeFileSync(file, JSON.stringify(manifest), { mode: 0o600 });
    kubectl(management, "apply", "-f", file);
  };
  const close = async () => {
    // After a failure the cluster is still there.
    if (existsSync(management))
      spawnSync("kubectl", ["--kubeconfig", management, "delete", "cluster", "--all", "--timeout=600s"]);
    for (const program of started.reverse()) await program.stop();
    spawnSync("ip", ["route", "delete", SUBNET]);
    for (const { id } of images) await cloud.image.images.delete(id);
    await project.close();
    if (process.env["CAUSEWAY_NODES_KEEP"] === undefined) rmSync(dir, { recursive: true, force: true });
    else console.log(`kept: ${dir}`);
  };
  try {
    const state = ["--state", join(dir, "machines")];
    start("machine-agent", "--cloud", entry, ...state, "--kubelet", "real", "--machine-images", join(dir, "images"));
    const up = start("up", "--cloud", entry, "--state", join(dir, "state"));
    await up.until(/management API/i);
    for (const { version, id } of images) manage(machineTemplate(version, id));
    const [older, newer] = images.map(({ version }) => version) as [string, string];
    const clouds = readFileSync(project.clouds, "utf8");
    for (const manifest of clusterManifests({ clouds, entry, version: older })) manage(manifest);
    return {
      cloud,
      before,
      versions: [older, newer],
      management: (...args) => kubectl(management, ...args),
      manage,
      workload: (...args) => kubectl(kubeconfig, ...args),
      async connect() {
        await openWay(project);
        const secret = await eventually(
          TIMEOUT,
          () => kubectl(management, "get", "secret", `${NAME}-kubeconfig`, "-o", "jsonpath={.data.value}") || undefined,
        );
        writeFileSync(kubeconfig, Buffer.from(secret, "base64"), { mode: 0o600 });
      },
      async members() {
        const servers = await cloud.compute.servers.all();
        const running = servers.find(({ status }) => status === "ACTIVE");
        if (running === undefined) throw new Error("no server is ACTIVE");
        return membersOn(running.id, join(dir, "machines", entry, running.id, "root"));
      },
      said,
      close,
    };
  } catch (error) {
    const text = said();
    await close();
    throw new Error(`the rig did not come up:\n${text}`, { cause: error });
  }
}

interface MadeImage {
  readonly id: string;
  readonly version: string;
}

/** Images of the project for the folders in CAUSEWAY_NODE_MACHINES, which `dir` has links to by the images' IDs. */
async function makeImages(cloud: Cloud, dir: string): Promise<MadeImage[]> {
  const folders = (process.env["CAUSEWAY_NODE_MACHINES"] ?? "").split(":").filter((folder) => folder !== "");
  mkdirSync(dir);
  const made: MadeImage[] = [];
  for (const folder of folders) {
    const version = basename(folder).replace(/^machine-/, "");
    const properties = { disk_format: "raw", container_format: "bare", visibility: "private" } as const;
    const { id } = await cloud.image.images.create({ name: `kubernetes-${version}`, ...properties });
    await cloud.image.upload(id, Buffer.alloc(1024));
    symlinkSync(folder, join(dir, id));
    made.push({ id, version });
  }
  return made;
}

/**
 * The cluster's endpoint is an address of its own network: this host reaches it by the network's router, which must not
 * give the answers another address.
 */
async function openWay({ cloud, entry, clouds }: Project): Promise<void> {
  const project_id = await cloud.projectId();
  const router = await eventually(TIMEOUT, async () => {
    const [found] = await cloud.network.routers.all({ project_id });
    return found?.external_gateway_info ? found : undefined;
  });
  const gateway = router.external_gateway_info;
  const [address] = gateway?.external_fixed_ips ?? [];
  if (!gateway || address?.ip_address === undefined) throw new Error(`router ${router.name} has no external address`);
  const admin = connectCloud(loadCloudsYaml({ cloud: `${entry}-admin`, path: clouds }));
  try {
    const { network_id, external_fixed_ips = [] } = gateway;
    const external_gateway_info = { network_id, external_fixed_ips, enable_snat: false };
    await admin.network.routers.update(router.id, { external_gateway_info });
  } finally {
    await admin.close();
  }
  execFileSync("ip", ["route", "replace", SUBNET, "via", address.ip_address]);
}

/** Asks the etcd of a machine, in its namespace and with the certificates on its disk. */
function membersOn(server: string, root: string): string[] {
  const pki = join(root, "etc/kubernetes/pki/etcd");
  const identity = [
    "--cacert",
    join(pki, "ca.crt"),
    "--cert",
    join(pki, "server.crt"),
    "--key",
    join(pki, "server.key"),
  ];
  const request = ["-sS", "--fail", ...identity, "-d", "{}", "https://127.0.0.1:2379/v3/cluster/member/list"];
  const answer = execFileSync("nsenter", [`--net=/run/netns/vm-${server}`, "curl", ...request], { encoding: "utf8" });
  const { members } = JSON.parse(answer) as { members: { name: string }[] };
  return members.map(({ name }) => name).sort();
}

function bootLogs(dir: string): string {
  const { stdout } = spawnSync("sh", ["-c", 'tail -n 25 "$1"/machines/*/*/root/var/log/machine/*.log', "sh", dir], {
    encoding: "utf8",
  });
  return stdout;
}
