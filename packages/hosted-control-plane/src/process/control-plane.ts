import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExternalAuthenticator, ExternalAuthenticators } from "@causeway/apiserver";
import { canonicalJson, messageOf, type Clock, type Log } from "@causeway/foundation";
import { auditPolicy, encryptionConfig } from "../at-rest.ts";
import { auditSinkConfig } from "../audit-sink.ts";
import type { Backups } from "../backup/backups.ts";
import type { BackupTarget } from "../backup/gather.ts";
import { issuersFile, issuersText, issuersVersion } from "../issuers.ts";
import {
  rootsDigest,
  type BackupState,
  type ControlPlaneSpec,
  type ControlPlaneState,
  type JoinState,
} from "../runtime.ts";
import { Child, endLeftover, type ChildCommand } from "./child.ts";
import { commandsOf, egressSelector, hostInUrl, type Commands } from "./commands.ts";
import { etcdRotation } from "./etcd-authority.ts";
import { writeChanged, writeOnce } from "./files.ts";
import { createJoinObjects } from "./join-objects.ts";
import { addressOf, renewAfter, writePki } from "./pki.ts";
import { portsOf, withOtherTokensPort, type Ports } from "./ports.ts";
import { probeApi } from "./probe.ts";
import { programNames } from "./programs.ts";
import { isRestoredIn, processKeyspace, restoreEncryption, restoreUntilDone } from "./restore.ts";
import { startSinkProxy, type SinkProxy } from "./sink-proxy.ts";
import { startTokenWebhook, type TokenWebhook } from "./token-webhook.ts";

/** Where the programs of a control plane keep their files, and how they are reached. */
export interface ControlPlaneWith {
  /** Folder of this control plane. */
  readonly dir: string;
  /** The address to listen on; undefined: the one of the endpoint. */
  readonly listen: string | undefined;
  /** Socket of the tunnel that leads to its nodes. */
  readonly tunnel: string | undefined;
  /** What verifies tokens in addition to the API server, by name. */
  readonly authenticators: ExternalAuthenticators;
  /** Networks in which its audit sink may be. */
  readonly auditNetworks: readonly string[];
  /** Where it is restored from; undefined: it is not restored here. */
  readonly backups: Backups | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly changed: () => void;
}

/** Ms between checks whether the API is ready, before and after it is. */
const STARTING = 100;
const RUNNING = 5_000;

/** Ports that are tried for the webhook for tokens. */
const PORTS_TRIED = 5;

/** The programs of one control plane: etcd, then the API server, then the controllers. Ended in the reverse order. */
export class ProcessControlPlane {
  readonly #using: ControlPlaneWith;
  #spec: ControlPlaneSpec | undefined;
  #ports: Ports | undefined;
  #digests: readonly string[] = [];
  #etcd: Child | undefined;
  #api: Child | undefined;
  #controllers: Child[] = [];
  #watching: Promise<void> | undefined;
  #life = new AbortController();
  #problem: string | undefined = "its programs are being started";
  #isReady = false;
  #renewAt = 0;
  #webhook: { readonly settings: string; readonly server: TokenWebhook } | undefined;
  /** The way of its API server to the tenant's audit sink. */
  #sinkProxy: SinkProxy | undefined;
  /** What machines that join need was created by this process, or existed. */
  #hasJoinObjects = false;
  /** This process saw it serve: then there is something to back up. */
  #served = false;
  #backup: BackupState | undefined;

  constructor(using: ControlPlaneWith) {
    this.#using = using;
  }

  /** Has the programs run as `spec` and the folder of `programs` say. What did not change is left running. */
  async apply(spec: ControlPlaneSpec, programs: string, signal: AbortSignal): Promise<void> {
    const { dir, clock } = this.#using;
    mkdirSync(join(dir, "run"), { recursive: true, mode: 0o700 });
    if (this.#spec === undefined) await this.endLeftovers();
    // Behind an endpoint of another's, a free port is used.
    const wanted = spec.join === undefined ? spec.endpoint.port : 0;
    const ports = await portsOf(dir, { api: wanted, host: this.#listen(spec) });
    const egress = this.#writeEgress();
    const encryption = await this.#encryption(spec, signal);
    writeOnce(join(dir, "audit-policy.json"), () => auditPolicy);
    const tokenWebhook = await this.#serveTokens(spec, ports);
    const issuers = this.#writeIssuers(spec);
    const auditSink = await this.#writeAuditSink(spec);
    const files = { egress, encryption, tokenWebhook, issuers, auditSink };
    const commands = commandsOf({ spec, ports, programs, dir, listen: this.#listen(spec), ...files });
    const rotation = spec.join === undefined ? etcdRotation(join(dir, "pki"), spec) : undefined;
    const digests = digestsOf(spec, commands, rotation);
    if (this.#renewAt <= clock.now() || this.#digests[1] !== digests[1]) {
      await writePki(join(dir, "pki"), spec, ports, clock.now());
      this.#renewAt = clock.now() + renewAfter;
    }
    const [etcd, api, controllers] = digests.map((digest, index) => digest !== this.#digests[index]);
    if (this.#spec !== undefined && rootsDigest(this.#spec) !== rootsDigest(spec)) this.#hasJoinObjects = false;
    this.#spec = spec;
    this.#ports = ports;
    if (this.#digests.length > 0 && !etcd && !api && !controllers) return;
    await this.#stopWatching();
    // An API server must never be older than its controllers: they are started again after it.
    if (controllers || api || etcd) await this.#stopControllers();
    if (api || etcd) await this.#stopApi();
    if (etcd) await this.#stopEtcd();
    this.#digests = digests;
    if (tokenWebhook === undefined) await this.#stopWebhook();
    if (auditSink === undefined) {
      await this.#stopSinkProxy();
      // Its token is not kept longer than it is used.
      rmSync(this.#auditSinkFile, { force: true });
    }
    this.#startAll(commands, stageOf(spec));
  }

  /**
   * The file with the key of Secrets at rest, of the backup where it is restored from one; undefined: there is none.
   */
  async #encryption({ join: joined, restore }: ControlPlaneSpec, signal: AbortSignal): Promise<string | undefined> {
    if (joined !== undefined) return undefined;
    if (restore !== undefined) await restoreEncryption(this.#using, restore, signal);
    return writeEncryption(this.#using.dir);
  }

  /** Those programs that the stage has; what runs already is left alone. */
  #startAll(commands: Commands, stage: JoinState["stage"]): void {
    if (stage !== "Reserve") this.#etcd ??= this.#start(commands.etcd);
    this.#problem = stage === "Serve" ? "its programs are being started" : "it is not allowed to serve yet";
    if (stage !== "Serve") return;
    this.#life = new AbortController();
    this.#watching = this.#serve(commands, this.#life.signal);
  }

  /** The first API server starts when the data is there. */
  async #serve(commands: Commands, signal: AbortSignal): Promise<void> {
    const { dir, changed } = this.#using;
    const { restore } = this.#spec ?? {};
    if (restore !== undefined && !isRestoredIn(dir, restore)) {
      this.#problem = "its data is being restored from the backup";
      const keyspace = () => this.#ports && processKeyspace(dir, this.#ports);
      const failed = (message: string): void => {
        this.#problem = `its data cannot be restored: ${message}`;
        changed();
      };
      await restoreUntilDone(this.#using, { restore, keyspace }, failed, signal);
      if (signal.aborted) return;
      this.#problem = "its programs are being started";
    }
    this.#api ??= this.#start(commands.api);
    await this.#watch(commands.controllers, signal);
  }

  /** What is backed up of it; undefined: it was not requested. */
  get backupTarget(): BackupTarget | undefined {
    const [spec, ports, { dir }] = [this.#spec, this.#ports, this.#using];
    if (spec === undefined || ports === undefined) return undefined;
    const file = join(dir, "encryption.json");
    const encryption = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    const isOwn = this.#served && spec.join === undefined;
    return { spec, encryption, keyspace: isOwn ? processKeyspace(dir, ports) : undefined };
  }

  /** What is known of its backups. */
  set backup(state: BackupState | undefined) {
    if (canonicalJson(this.#backup ?? null) === canonicalJson(state ?? null)) return;
    this.#backup = state;
    this.#using.changed();
  }

  get state(): ControlPlaneState | undefined {
    const spec = this.#spec;
    if (spec === undefined) return undefined;
    const { version, names, limits, authentication, endpoint, flags } = spec;
    const port = spec.join === undefined ? (this.#ports?.api ?? endpoint.port) : endpoint.port;
    return {
      ...joinState(spec, this.#ports, this.#listen(spec)),
      ready: this.#isReady,
      ...(this.#isReady ? {} : { starting: true, message: this.#message() }),
      runtime: "Process",
      endpoint: { host: endpoint.host, port },
      version,
      names,
      limits,
      authentication,
      ...(flags === undefined ? {} : { flags }),
      ...(spec.audit === undefined ? {} : { audit: spec.audit }),
      ...(spec.backup === undefined ? {} : { schedule: spec.backup }),
      ...(this.#backup === undefined ? {} : { backup: this.#backup }),
      roots: rootsDigest(spec),
    };
  }

  /** Its certificates are written again in time. */
  get renewAt(): number {
    return this.#renewAt;
  }

  async stop(): Promise<void> {
    await this.#stopWatching();
    await this.#stopControllers();
    await this.#stopApi();
    await this.#stopEtcd();
    await this.#stopWebhook();
    await this.#stopSinkProxy();
    this.#isReady = false;
    this.#spec = undefined;
    this.#digests = [];
  }

  /** Ends programs that an earlier process of ours started and did not end, since it was killed. */
  async endLeftovers(): Promise<void> {
    const { dir, clock, log } = this.#using;
    for (const name of programNames.toReversed()) {
      const ended = await endLeftover(join(dir, "run"), name, clock);
      if (ended) log.info("ended a program that an earlier process left behind", { program: name, pid: ended.pid });
    }
  }

  #message(): string {
    const crashing = this.#children().flatMap((child) => child.problem ?? []);
    if (crashing.length > 0)
      return `${crashing.join("; ")}; logs are in ${join(this.#using.dir, "run")} (PROCESS_CRASHING)`;
    return `the API server is not ready: ${this.#problem}`;
  }

  #children(): Child[] {
    return [this.#etcd, this.#api, ...this.#controllers].filter((child) => child !== undefined);
  }

  #listen({ endpoint, join }: ControlPlaneSpec): string {
    return this.#using.listen ?? join?.peerHost ?? endpoint.host;
  }

  #writeEgress(): string | undefined {
    const { tunnel, dir } = this.#using;
    // kube-apiserver does not start if the socket's folder is missing, and dials the socket only when it needs it.
    if (tunnel === undefined) return undefined;
    const file = join(dir, "egress.json");
    writeOnce(file, () => egressSelector(tunnel));
    return file;
  }

  /** kube-apiserver reads it again when it changes. Undefined: there is none. */
  #writeIssuers({ authentication: { jwt }, version }: ControlPlaneSpec): string | undefined {
    if (jwt === undefined) return undefined;
    const of = issuersVersion(version);
    const file = join(this.#using.dir, issuersFile(of));
    writeChanged(file, issuersText(jwt, of));
    return file;
  }

  get #auditSinkFile(): string {
    return join(this.#using.dir, "audit-sink.json");
  }

  /** kube-apiserver reads it when it starts, so that a change starts it again. Undefined: there is none. */
  async #writeAuditSink({ audit }: ControlPlaneSpec): Promise<string | undefined> {
    if (audit === undefined) return undefined;
    const { auditNetworks: networks, log } = this.#using;
    this.#sinkProxy ??= await startSinkProxy({ networks, log });
    this.#sinkProxy.lead(audit.url);
    const file = this.#auditSinkFile;
    writeChanged(file, auditSinkConfig(audit, this.#sinkProxy.url));
    return file;
  }

  #start(command: ChildCommand): Child {
    const { dir, clock, log, changed } = this.#using;
    const child = new Child(command, { dir: join(dir, "run"), clock, log, changed });
    child.start();
    return child;
  }

  /** Starts the controllers when the API is ready, and reports when it becomes ready or stops being so. */
  async #watch(controllers: readonly ChildCommand[], signal: AbortSignal): Promise<void> {
    const { clock, dir, changed, log } = this.#using;
    while (!signal.aborted) {
      const host = this.#spec === undefined ? "127.0.0.1" : probed(this.#listen(this.#spec));
      const problem = await this.#probe(dir, host, signal).catch(messageOf);
      if (signal.aborted) return;
      if (problem === undefined && this.#controllers.length === 0)
        this.#controllers = controllers.map((command) => this.#start(command));
      const crashing = this.#children().some((child) => child.problem !== undefined);
      const isReady = problem === undefined && !crashing;
      const differs = isReady !== this.#isReady || problem !== this.#problem;
      if (isReady !== this.#isReady)
        log.info(isReady ? "the control plane is ready" : "the control plane is not ready");
      this.#isReady = isReady;
      this.#served ||= isReady;
      this.#problem = problem;
      if (differs) changed();
      await clock.sleep(isReady ? RUNNING : STARTING, signal).catch(() => {});
    }
  }

  /** Undefined: it is ready, and machines can join it. */
  async #probe(dir: string, host: string, signal: AbortSignal): Promise<string | undefined> {
    const [spec, ports] = [this.#spec, this.#ports];
    if (!spec || !ports) return "its programs are being started";
    const problem = await probeApi(dir, { host, port: ports.api });
    if (problem !== undefined || this.#hasJoinObjects) return problem;
    const server = `https://${addressOf(spec)}:${spec.join === undefined ? ports.api : spec.endpoint.port}`;
    await createJoinObjects(spec, { server, host, port: ports.api }, signal);
    this.#hasJoinObjects = true;
    return undefined;
  }

  async #stopWatching(): Promise<void> {
    this.#life.abort();
    await this.#watching;
    this.#watching = undefined;
    this.#isReady = false;
    this.#problem = "its programs are being started";
  }

  async #stopControllers(): Promise<void> {
    await Promise.all(this.#controllers.map((child) => child.stop()));
    this.#controllers = [];
  }

  async #stopApi(): Promise<void> {
    await this.#api?.stop();
    this.#api = undefined;
  }

  /** The file with which kube-apiserver finds the authenticator of the spec; undefined: it has none. */
  async #serveTokens({ authentication: { external } }: ControlPlaneSpec, ports: Ports): Promise<string | undefined> {
    const { dir, authenticators, clock, log } = this.#using;
    const make = external && authenticators[external.type];
    if (external === undefined || make === undefined) return undefined;
    const file = join(dir, "token-webhook.conf");
    const settings = canonicalJson(external);
    if (this.#webhook?.settings === settings) return file;
    const authenticator = make(external.settings, { clock, log });
    if (this.#webhook !== undefined) this.#webhook.server.use(authenticator);
    const server =
      this.#webhook?.server ??
      (await this.#listenForTokens(authenticator, ports).catch((error: unknown) => {
        authenticator.close();
        throw error;
      }));
    if (this.#webhook === undefined) writeFileSync(file, server.kubeconfig, { mode: 0o600 });
    this.#webhook = { settings, server };
    return file;
  }

  /** At another port, if another program has the one of before: kube-apiserver is started with the new one. */
  async #listenForTokens(authenticator: ExternalAuthenticator, ports: Ports): Promise<TokenWebhook> {
    const { dir, log } = this.#using;
    let { tokens } = ports;
    for (let attempt = 1; ; attempt++) {
      try {
        return await startTokenWebhook(tokens, authenticator, log);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || attempt === PORTS_TRIED) throw error;
        const taken = tokens;
        ({ tokens } = await withOtherTokensPort(dir, ports));
        log.warn("the port of the webhook for tokens is in use, and another one is used", { taken, port: tokens });
      }
    }
  }

  async #stopWebhook(): Promise<void> {
    await this.#webhook?.server.close();
    this.#webhook = undefined;
  }

  async #stopSinkProxy(): Promise<void> {
    await this.#sinkProxy?.close();
    this.#sinkProxy = undefined;
  }

  async #stopEtcd(): Promise<void> {
    await this.#etcd?.stop();
    this.#etcd = undefined;
  }
}

/** The key is created once: without it no Secret of the control plane can be read. */
function writeEncryption(dir: string): string {
  const file = join(dir, "encryption.json");
  writeOnce(file, () => encryptionConfig(randomBytes(32).toString("base64")));
  return file;
}

const stageOf = ({ join }: ControlPlaneSpec): JoinState["stage"] => join?.stage ?? "Serve";

/** What each program depends on: etcd, the API server, the controllers. */
function digestsOf(spec: ControlPlaneSpec, commands: Commands, etcdRotation: string | undefined): string[] {
  const { authority, frontProxy, serviceAccountKey, names, endpoint, join: joined } = spec;
  const certificates = joined?.certificates ?? null;
  // Left out without a rotation, so that digests remain what they were.
  const rotation = spec.rotation === undefined ? [] : [spec.rotation];
  const etcd = etcdRotation === undefined ? [] : [etcdRotation];
  const roots = [authority, frontProxy, serviceAccountKey, names, endpoint.host, certificates];
  const pki = digestOf([...roots, ...rotation, ...etcd]);
  const stage = stageOf(spec);
  return [
    digestOf([commands.etcd, certificates, stage === "Reserve", ...etcd]),
    digestOf([commands.api, pki, stage === "Serve", ...(spec.audit === undefined ? [] : [spec.audit])]),
    digestOf([commands.controllers, pki]),
  ];
}

function joinState({ join }: ControlPlaneSpec, ports: Ports | undefined, listen: string): { join?: JoinState } {
  if (join === undefined || ports === undefined) return {};
  const peerURL = `https://${hostInUrl(join.peerHost)}:${ports.peer}`;
  const api = ["0.0.0.0", "::"].includes(listen) ? join.peerHost : listen;
  return {
    join: {
      stage: join.stage,
      peerURL,
      clientURL: `https://127.0.0.1:${ports.etcd}`,
      apiAddress: `${hostInUrl(api)}:${ports.api}`,
    },
  };
}

/** An address that the machine reaches itself at. */
function probed(listen: string): string {
  if (listen === "0.0.0.0") return "127.0.0.1";
  return listen === "::" ? "::1" : listen;
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("base64url");
}
