import type { ConfigMap, Deployment, KubeObject, Namespace, Pod, Service } from "@causeway/kubernetes";
import { isMigrationStep } from "../migration/perform-migration.ts";
import type { Comparison, MigrationMemory } from "../migration/memory.ts";
import { migrationFailureAfter } from "../migration/plan-migration.ts";
import { migrationObject, parseMigration, type MigrationRecord } from "../migration/record.ts";
import { MIGRATION_ID } from "../migration/served.ts";
import type { MigrationStep, Step } from "../steps.ts";
import { componentLabel, datastoreAnnotation, migratingAnnotation } from "../tenant.ts";
import { CausewayError } from "@causeway/foundation";
import { PlayedCluster, templateHash } from "./played-cluster.ts";
import { poolOf } from "./spec.ts";

/** Revisions of the own etcd begin here. */
const AHEAD = 1_000_000;

/** A process that does the steps: what it remembers, and its copy. */
export interface Leader {
  migration: MigrationMemory | undefined;
  token: number | undefined;
}

/**
 * A service cluster in memory with two etcds of one control plane, and a client that writes and reads through the API
 * servers that its Service leads to.
 */
export class MovingCluster extends PlayedCluster {
  frozen = false;
  /** Of each etcd: the writes that it has, and its revision. */
  shared = { writes: 0, revision: 10, isRemoved: false };
  own = { writes: 0, revision: 0, token: 0, complete: false };
  /** Writes that the client knows to be stored, and the newest revision that it has seen. */
  acknowledged = 0;
  seen = 0;
  leader: Leader = { migration: undefined, token: undefined };
  #tokens = 0;
  #versions = 0;

  constructor() {
    super({ datastoreMoves: true });
    this.pool = poolOf();
    this.hasEtcdUser = true;
  }

  /** Another process leads: it knows what is recorded only. */
  takeOver(): void {
    this.leader = { migration: undefined, token: undefined };
    this.migration = undefined;
    this.joinedAt = undefined;
  }

  override perform(step: Step, at: number, leader = this.leader): void {
    if (!isMigrationStep(step)) return super.perform(step, at);
    this.performed.push(step.type);
    try {
      this.#migrate(step, leader);
    } catch (error) {
      leader.migration = migrationFailureAfter(leader.migration, step, error);
    }
    if (leader === this.leader) this.migration = leader.migration;
  }

  get record(): MigrationRecord | undefined {
    return parseMigration(this.live.get(MIGRATION_ID));
  }

  #migrate(step: MigrationStep, leader: Leader): void {
    const remember = (change: MigrationMemory): void => {
      leader.migration = { ...(leader.migration?.attempt === change.attempt ? leader.migration : {}), ...change };
    };
    switch (step.type) {
      case "begin-migration":
        return this.#save({ stage: "Starting", ...step.record, revision: AHEAD }, step.replaces);
      case "record-migration":
        return this.#save(step.record, step.replaces);
      case "copy-datastore":
        if (this.own.complete) throw new CausewayError("PODS_MIGRATION_FENCED", "complete");
        leader.token = ++this.#tokens;
        this.own = { ...this.own, token: leader.token, writes: this.shared.writes };
        this.own.revision = Math.max(this.own.revision, AHEAD) + 1;
        return remember({ attempt: step.record.attempt, copied: true });
      case "freeze-datastore":
        return remember({ attempt: step.record.attempt, copied: true, compared: this.#compare(step, leader) });
      case "thaw-datastore":
        if (step.reopen !== undefined) this.own.complete = false;
        this.frozen = false;
        return remember({ attempt: step.record.attempt, thawed: step.record.stage });
      case "end-pods": {
        const names = new Set(step.pods.map(({ metadata }) => metadata.name));
        this.pods = this.pods.filter(({ metadata }) => !names.has(metadata.name));
        return undefined;
      }
      case "switch-datastore":
        return this.#switch(step);
      case "remove-shared-data":
        this.shared.isRemoved = true;
        return remember({ attempt: step.record.attempt, removed: true });
    }
  }

  #compare({ replaces }: Extract<MigrationStep, { type: "freeze-datastore" }>, { token }: Leader): Comparison {
    const version = this.live.get(MIGRATION_ID)?.metadata.resourceVersion;
    const isFenced = version !== replaces || token !== this.own.token || this.own.complete;
    this.frozen = !isFenced && !this.fails;
    if (isFenced) throw new CausewayError("PODS_MIGRATION_FENCED", "played");
    if (this.fails) throw new CausewayError("PODS_MIGRATION_DIFFERS", "played");
    this.own = { ...this.own, writes: this.shared.writes, revision: this.own.revision + 1, complete: true };
    return { keys: this.shared.writes, hash: "a".repeat(64), revision: this.shared.revision };
  }

  #switch({ record, replaces }: Extract<MigrationStep, { type: "switch-datastore" }>): void {
    if (this.shared.revision !== record.frozenRevision)
      throw new CausewayError("PODS_MIGRATION_DIFFERS", "the shared etcd changed");
    if (this.live.get(MIGRATION_ID)?.metadata.resourceVersion !== replaces) return;
    this.#save(record, replaces);
    const { namespace } = this;
    const annotations: Record<string, string> = { ...namespace?.metadata.annotations, [datastoreAnnotation]: "Own" };
    delete annotations[migratingAnnotation];
    this.namespace = { ...namespace, metadata: { ...namespace?.metadata, annotations } } as Namespace;
  }

  /** The comparison of both sides fails. */
  fails = false;

  #save(record: MigrationRecord, replaces: string | undefined): void {
    if (this.live.get(MIGRATION_ID)?.metadata.resourceVersion !== replaces) return;
    const object: ConfigMap = migrationObject("", record);
    const metadata = { ...object.metadata, resourceVersion: `record-${++this.#versions}` };
    if (record.stage === "Starting") this.own = { writes: 0, revision: 0, token: 0, complete: false };
    this.live.set(MIGRATION_ID, { ...object, metadata } as KubeObject);
  }

  /** New API servers are ready next to the old ones. */
  surge(): void {
    const object = this.live.get("Deployment/kube-apiserver") as Deployment | undefined;
    if (object === undefined) return;
    const { spec, metadata } = object;
    const label = templateHash(object);
    const hash = label["pod-template-hash"];
    if (this.#apiServers().some(({ metadata: { labels } }) => labels?.["pod-template-hash"] === hash)) return;
    for (let index = 0; index < (spec.replicas ?? 1); index++)
      this.pods.push({
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          ...spec.template.metadata,
          labels: { ...spec.template.metadata?.labels, ...label },
          name: `${metadata.name}-${hash}-${index}`,
        },
        spec: spec.template.spec,
        status: { podIP: `10.2.0.${index + 1}`, conditions: [{ type: "Ready", status: "True" }] },
      });
  }

  #apiServers(): Pod[] {
    return this.pods.filter(({ metadata }) => metadata.labels?.[componentLabel] === "kube-apiserver");
  }

  /** API servers that clients reach. */
  get reached(): Pod[] {
    const service = this.live.get("Service/kube-apiserver") as Service | undefined;
    const selector = Object.entries(service?.spec.selector ?? { none: "none" });
    return this.#apiServers().filter(({ metadata: { labels } }) =>
      selector.every(([name, is]) => labels?.[name] === is),
    );
  }

  /** A client writes and reads through each of them. */
  use(): string | undefined {
    for (const { spec } of this.reached) {
      const isShared = spec.containers.some(({ command = [] }) => command.some((each) => each.includes("etcd-prefix")));
      if (isShared && !this.frozen) {
        this.shared = { ...this.shared, writes: this.shared.writes + 1, revision: this.shared.revision + 1 };
        this.acknowledged++;
      }
      if (!isShared) {
        this.own = { ...this.own, writes: this.own.writes + 1, revision: this.own.revision + 1 };
        this.acknowledged++;
      }
      const side = isShared ? this.shared : this.own;
      if (side.revision < this.seen) return `revision ${side.revision} after ${this.seen}`;
      this.seen = side.revision;
      if (side.writes !== this.acknowledged) return `${side.writes} of ${this.acknowledged} writes`;
    }
    return undefined;
  }
}
