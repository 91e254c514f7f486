/**
 * A node of a service cluster in place of a real one: it runs each container's command as a process of this machine,
 * with the mounts, the user, the environment and the names of Services that the Pod has, and its readiness probe
 * decides whether it is ready. Images are folders of programs. Needs root (mount namespaces).
 */
import { spawn, type ChildProcess } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  closeSync,
} from "node:fs";
import { constants } from "node:os";
import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { dirname, join } from "node:path";
import { messageOf, systemClock } from "@causeway/foundation";
import {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type Container,
  type Informers,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import { mountedFiles, refreshMounts, USER, writeMounted, type Volume } from "./played-mounts.ts";
import { PlayedServices } from "./played-services.ts";

export interface PlayedNodeOptions {
  readonly informers: Informers;
  readonly client: KubernetesClient;
  /** Folder for everything of the pods. */
  readonly dir: string;
  /** The folder with the programs of an image. */
  readonly programsOf: (image: string) => string;
}

interface PlayedContainer {
  readonly ip: string;
  readonly dir: string;
  child: ChildProcess | undefined;
  restarts: number;
  last: { readonly exitCode: number; readonly message: string } | undefined;
  ready: boolean;
  /** Of the readiness probe, in a row. */
  failures: number;
  probeAt: number;
  refreshAt: number;
  ending: boolean;
}

const NODE = "played";
/** Ms between two reads of what a pod mounts. */
const REFRESHED = 2_000;
const ready = [{ type: "Ready", status: "True", reason: "KubeletReady" } as const];

export class PlayedNode {
  readonly #options: PlayedNodeOptions;
  readonly #pods = new Map<string, PlayedContainer>();
  readonly #services: PlayedServices;
  /** Of each node another one: pods of two nodes in one process have different addresses. */
  readonly #network = `127.${10 + Math.floor(Math.random() * 200)}.${Math.floor(Math.random() * 250)}`;
  #addresses = 0;

  constructor(options: PlayedNodeOptions) {
    this.#options = options;
    this.#services = new PlayedServices({
      ...options,
      address: () => this.#address(),
      readyIp: (pod) => this.#readyIp(pod),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers } = this.#options;
    const pods = informers.for(Pod);
    const claims = informers.for(PersistentVolumeClaim);
    await informers.whenSynced(signal);
    await this.#register();
    const beating = this.#beat(signal);
    while (!signal.aborted) {
      for (const claim of claims.list()) await this.#provision(claim).catch(() => {});
      const mine = pods.list().filter(({ spec }) => spec.nodeName === NODE);
      await this.#services.update(mine, (pod) => this.#hostsOf(pod)).catch(() => {});
      await Promise.all(mine.map((pod) => this.#sync(pod).catch(() => {})));
      const uids = new Set(mine.map(({ metadata }) => metadata.uid));
      for (const [uid, running] of this.#pods) if (!uids.has(uid) && !running.ending) void this.#end(uid, running);
      await systemClock.sleep(200, signal).catch(() => {});
    }
    await beating;
    this.#services.close();
    await Promise.all([...this.#pods].map(([uid, running]) => this.#end(uid, running)));
  }

  /** Processes that run now, by the names of their pods' containers. */
  get processes(): number {
    return [...this.#pods.values()].filter(({ child }) => child !== undefined).length;
  }

  /**
   * Kills the program of a pod's container by SIGKILL, as when memory runs out; it is started again in the same pod.
   */
  kill({ namespace, name }: ObjectKey): void {
    const pod = this.#options.informers.for(Pod).get({ namespace, name });
    const child = this.#pods.get(pod?.metadata.uid ?? "")?.child;
    if (child === undefined) throw new Error(`pod ${namespace}/${name} runs no program`);
    child.kill("SIGKILL");
  }

  #address(): string {
    return `${this.#network}.${(++this.#addresses % 250) + 1}`;
  }

  async #register(): Promise<void> {
    const { client } = this.#options;
    await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: NODE }, spec: {} } as Node);
    await this.#heartbeat();
  }

  /** Next to the work with pods, so that slow pods do not make the node seem lost. */
  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#heartbeat().catch(() => {});
      await systemClock.sleep(5_000, signal).catch(() => {});
    }
  }

  async #heartbeat(): Promise<void> {
    const time = new Date().toISOString();
    const allocatable = { cpu: "64", memory: "256Gi", pods: "200" };
    const conditions = ready.map((each) => ({ ...each, lastHeartbeatTime: time, lastTransitionTime: time }));
    const body = { status: { allocatable, capacity: allocatable, conditions } };
    await this.#options.client.patch(
      Node,
      { namespace: "", name: NODE },
      { type: "merge", body },
      { subresource: "status" },
    );
  }

  async #provision({ metadata, spec, status }: PersistentVolumeClaim): Promise<void> {
    if (status?.phase === "Bound" || metadata.deletionTimestamp !== undefined) return;
    const name = `pv-${metadata.uid}`;
    const { client } = this.#options;
    if (await client.find(PersistentVolume, { namespace: "", name })) return;
    await client.create(PersistentVolume, {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        capacity: { storage: "64Gi" },
        accessModes: spec.accessModes ?? [],
        claimRef: {
          kind: "PersistentVolumeClaim",
          namespace: metadata.namespace,
          name: metadata.name,
          uid: metadata.uid,
        },
        persistentVolumeReclaimPolicy: "Retain",
        storageClassName: spec.storageClassName ?? "",
        hostPath: { path: join(this.#options.dir, "volumes", String(metadata.uid)) },
      },
    } as unknown as PersistentVolume);
  }

  async #sync(pod: Pod): Promise<void> {
    const { uid = "", deletionTimestamp, namespace = "", name } = pod.metadata;
    const running = this.#pods.get(uid);
    if (deletionTimestamp !== undefined) {
      if (running?.ending) return hurry(pod, running);
      // A program may end slowly; the node continues meanwhile.
      void this.#remove({ namespace, name }, running && { uid, running }).catch(() => {});
      return;
    }
    if (running === undefined) return this.#start(pod);
    if (Date.now() >= running.refreshAt) {
      running.refreshAt = Date.now() + REFRESHED;
      await refreshMounts(this.#options.client, pod, running.dir);
    }
    const [container] = pod.spec.containers;
    if (container === undefined || Date.now() < running.probeAt) return;
    const { failureThreshold = 3, periodSeconds = 10 } = container["readinessProbe"] as ReadinessProbe;
    const answered = await probe(container, running.ip);
    running.failures = answered ? 0 : running.failures + 1;
    // One that is not ready yet is probed more often than by a kubelet.
    running.probeAt = Date.now() + (answered ? periodSeconds * 1_000 : 300);
    const isReady = answered || (running.ready && running.failures < failureThreshold);
    // Another controller sets it to False when the node was late: a kubelet, too, sets it right again.
    if (isReady !== running.ready || !isReported(pod, isReady)) {
      running.ready = isReady;
      await this.#report(pod, running);
    }
  }

  /** Deleted again in the next turn where this fails. */
  async #remove(
    key: ObjectKey,
    of: { readonly uid: string; readonly running: PlayedContainer } | undefined,
  ): Promise<void> {
    if (of) await this.#end(of.uid, of.running);
    await this.#options.client.delete(Pod, key, { gracePeriodSeconds: 0 });
  }

  async #start(pod: Pod): Promise<void> {
    const { uid = "" } = pod.metadata;
    const running: PlayedContainer = {
      ip: this.#address(),
      dir: join(this.#options.dir, "pods", uid),
      child: undefined,
      restarts: 0,
      last: undefined,
      ready: false,
      failures: 0,
      probeAt: 0,
      refreshAt: Date.now() + REFRESHED,
      ending: false,
    };
    this.#pods.set(uid, running);
    try {
      await this.#mount(pod, running);
    } catch (error) {
      // A Secret is not there yet: the next turn tries again.
      this.#pods.delete(uid);
      throw new Error(`${pod.metadata.name}: ${messageOf(error)}`, { cause: error });
    }
    await this.#report(pod, running);
    void this.#prepare(pod, running).then(() => this.#launch(pod, running));
  }

  /** Runs the init containers, one after the other, each until it succeeds. */
  async #prepare(pod: Pod, running: PlayedContainer): Promise<void> {
    for (const container of pod.spec.initContainers ?? []) {
      for (;;) {
        if (running.ending) return;
        const child = this.#spawn(pod, container, running);
        running.child = child;
        const code = await new Promise<number | null>((done) => child.once("close", done));
        running.child = undefined;
        if (code === 0) break;
        await systemClock.sleep(1_000);
      }
    }
  }

  #readyIp(pod: Pod): string | undefined {
    const { uid = "", deletionTimestamp } = pod.metadata;
    const running = this.#pods.get(uid);
    if (running === undefined || deletionTimestamp !== undefined) return undefined;
    return running.ready || isReported(pod, true) ? running.ip : undefined;
  }

  #hostsOf({ metadata }: Pod): { file: string; ip: string } | undefined {
    const running = this.#pods.get(metadata.uid ?? "");
    return running && { file: join(running.dir, "root/etc/hosts"), ip: running.ip };
  }

  /** The folders that take the places of /etc and /var/lib. */
  async #mount(pod: Pod, { dir }: PlayedContainer): Promise<void> {
    const { namespace = "" } = pod.metadata;
    const etc = join(dir, "root/etc");
    mkdirSync(join(dir, "root/var/lib/programs"), { recursive: true });
    mkdirSync(etc, { recursive: true });
    for (const name of ["passwd", "group", "nsswitch.conf", "ssl", "localtime"])
      if (existsSync(join("/etc", name))) cpSync(join("/etc", name), join(etc, name), { recursive: true });
    writeFileSync(join(etc, "hosts"), "127.0.0.1 localhost\n");
    const [container] = pod.spec.containers;
    for (const { name, mountPath } of container?.volumeMounts ?? []) {
      if (mountPath === "/tmp") continue;
      const target = join(dir, "root", mountPath);
      mkdirSync(dirname(target), { recursive: true });
      const volume = pod.spec.volumes?.find((each) => each.name === name) as Volume | undefined;
      if (volume === undefined) throw new Error(`no volume ${name}`);
      const claim = volume.persistentVolumeClaim?.claimName;
      if (claim !== undefined) {
        // A claim that was deleted and created again has another volume.
        const { metadata } = await this.#options.client.get(PersistentVolumeClaim, { namespace, name: claim });
        const folder = join(this.#options.dir, "claims", namespace, `${claim}-${metadata.uid}`);
        mkdirSync(folder, { recursive: true });
        chownSync(folder, USER, USER);
        mkdirSync(target, { recursive: true });
        writeFileSync(join(dir, "binds"), `${folder} ${target}\n`, { flag: "a" });
        continue;
      }
      mkdirSync(target, { recursive: true });
      if (volume.emptyDir !== undefined) chownSync(target, USER, USER);
      for (const [file, content] of await mountedFiles(this.#options.client, namespace, volume)) {
        writeMounted(join(target, file), content, volume);
      }
    }
  }

  #spawn(pod: Pod, container: Container, running: PlayedContainer): ChildProcess {
    const values: Record<string, string> = { POD_IP: running.ip, POD_NAME: pod.metadata.name };
    const command = (container.command ?? []).map((word) =>
      word.replaceAll(/\$\((\w+)\)/g, (_, name: string) => values[name] ?? ""),
    );
    const log = openSync(join(running.dir, "log"), "a");
    const root = join(running.dir, "root");
    const script = [
      "set -e",
      "mount --make-rprivate /",
      `mount --bind ${this.#options.programsOf(container.image ?? "")} ${root}/var/lib/programs`,
      `if [ -f ${running.dir}/binds ]; then while read -r from to; do mount --bind "$from" "$to"; done < ${running.dir}/binds; fi`,
      `mount --rbind ${root}/var/lib /var/lib`,
      `mount --bind ${root}/etc /etc`,
      'program=$1; shift; exec setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs "/var/lib/programs/$program" "$@"',
    ].join("\n");
    const child = spawn("unshare", ["-m", "sh", "-c", script, "sh", ...command], {
      stdio: ["ignore", log, log],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...values },
    });
    closeSync(log);
    return child;
  }

  #launch(pod: Pod, running: PlayedContainer): void {
    const [container] = pod.spec.containers;
    if (container === undefined || running.ending) return;
    const child = this.#spawn(pod, container, running);
    running.child = child;
    child.once("close", (code, by) => {
      running.child = undefined;
      running.ready = false;
      if (running.ending) return;
      running.restarts++;
      running.last = {
        exitCode: code ?? 128 + (by === null ? 0 : (constants.signals[by] ?? 0)),
        message: lastOutput(pod, running),
      };
      void this.#report(pod, running).catch(() => {});
      setTimeout(() => this.#launch(pod, running), 1_000);
    });
  }

  async #report(pod: Pod, running: PlayedContainer): Promise<void> {
    const { namespace = "", name } = pod.metadata;
    const [container] = pod.spec.containers;
    const time = new Date().toISOString();
    const is = running.ready ? "True" : "False";
    const crashing = running.child === undefined && running.restarts > 0;
    const state = crashing
      ? { waiting: { reason: "CrashLoopBackOff", message: "back-off restarting failed container" } }
      : { running: { startedAt: time } };
    const status = {
      phase: "Running",
      podIP: running.ip,
      podIPs: [{ ip: running.ip }],
      hostIP: "127.0.0.1",
      conditions: [
        { type: "PodScheduled", status: "True", lastTransitionTime: time },
        { type: "Initialized", status: "True", lastTransitionTime: time },
        { type: "ContainersReady", status: is, lastTransitionTime: time },
        { type: "Ready", status: is, lastTransitionTime: time },
      ],
      containerStatuses: [
        {
          name: container?.name,
          image: container?.image,
          imageID: "played",
          ready: running.ready,
          started: true,
          restartCount: running.restarts,
          state,
          ...(running.last === undefined ? {} : { lastState: { terminated: { ...running.last, reason: "Error" } } }),
        },
      ],
    };
    await this.#options.client.patch(
      Pod,
      { namespace, name },
      { type: "merge", body: { status } },
      { subresource: "status" },
    );
  }

  async #end(uid: string, running: PlayedContainer): Promise<void> {
    running.ending = true;
    const { child } = running;
    if (child) {
      const ended = new Promise((done) => child.once("close", done));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
      await ended;
      clearTimeout(timer);
    }
    this.#pods.delete(uid);
    rmSync(running.dir, { recursive: true, force: true });
  }
}

/** As a kubelet: who deletes a pod again with less time shortens what it has. */
function hurry({ metadata }: Pod, { child }: PlayedContainer): void {
  if ((metadata.deletionGracePeriodSeconds ?? Infinity) <= 1) child?.kill("SIGKILL");
}

const isReported = ({ status }: Pod, isReady: boolean): boolean =>
  status?.conditions?.find(({ type }) => type === "Ready")?.status === (isReady ? "True" : "False");

/** Bytes of a container's output that a kubelet takes at most in place of a termination message. */
const MOST_OUTPUT = 2_048;

/** As a kubelet with terminationMessagePolicy FallbackToLogsOnError. */
function lastOutput(pod: Pod, { dir }: PlayedContainer): string {
  if (pod.spec.containers[0]?.["terminationMessagePolicy"] !== "FallbackToLogsOnError") return "";
  return readFileSync(join(dir, "log")).subarray(-MOST_OUTPUT).toString("utf8");
}

interface ReadinessProbe {
  readonly httpGet: { readonly path: string; readonly port: number; readonly scheme: string };
  readonly failureThreshold?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
}

function probe(container: Container, ip: string): Promise<boolean> {
  const { httpGet, timeoutSeconds = 1 } = container["readinessProbe"] as ReadinessProbe;
  const options = {
    host: ip,
    port: httpGet.port,
    path: httpGet.path,
    agent: false as const,
    timeout: timeoutSeconds * 1_000,
  };
  return new Promise((done) => {
    const answered = (response: IncomingMessage): void => {
      response.resume();
      done(response.statusCode === 200);
    };
    const request =
      httpGet.scheme === "HTTPS"
        ? getHttps({ ...options, rejectUnauthorized: false }, answered)
        : getHttp(options, answered);
    request.on("timeout", () => request.destroy());
    request.on("error", () => done(false));
  });
}
