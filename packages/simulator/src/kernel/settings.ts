import type { Outcome, Table } from "./interface.ts";

/** Limits of a new project, by the services' own names; as the real services of devcloud are configured. */
export const defaultQuotas: Readonly<Record<string, number>> = {
  instances: 200,
  cores: 1000,
  ram: 4_000_000,
  key_pairs: 500,
  metadata_items: 128,
  injected_files: 5,
  injected_file_content_bytes: 10_240,
  injected_file_path_bytes: 255,
  server_groups: 100,
  server_group_members: 10,
  network: 500,
  subnet: 500,
  subnetpool: -1,
  port: 5000,
  router: 100,
  floatingip: 200,
  security_group: 500,
  security_group_rule: 5000,
  rbac_policy: 10,
  trunk: -1,
  volumes: 500,
  snapshots: 500,
  gigabytes: 100_000,
  per_volume_gigabytes: -1,
  backups: 10,
  backup_gigabytes: 1000,
  groups: 10,
  shares: 50,
  share_gigabytes: 1000,
  share_snapshots: 50,
  share_snapshot_gigabytes: 1000,
  share_networks: 10,
  load_balancer: 200,
  listener: 1000,
  member: 5000,
  pool: 1000,
  health_monitor: 1000,
  l7policy: -1,
  l7rule: -1,
};

/** In a project's place: limits set for it hold for all projects without a limit of their own. */
export const everyProject = "*";

/** One order about how provisioning ends. */
export interface OutcomeRule {
  /** "server.create", "loadbalancer.create"…; a prefix ending in "*" matches all that begin so. */
  readonly operation: string;
  /** Exact name of the resource (or its flavor, its image…); undefined matches all. */
  readonly name?: string;
  readonly outcome: Outcome;
}

interface QuotaRow {
  readonly id: string;
  readonly limits: Readonly<Record<string, number>>;
}

/**
 * What tests and people order of the cloud: limits (kept with the state), delays and outcomes (forgotten on restart).
 */
export class Settings {
  readonly delays: Map<string, number>;
  outcomes: readonly OutcomeRule[] = [];
  /** What the cloud has found out by itself; what is ordered comes first. */
  measured: readonly OutcomeRule[] = [];
  readonly #quotas: Table<QuotaRow>;

  constructor(quotas: Table<QuotaRow>, delays: Readonly<Record<string, number>>) {
    this.#quotas = quotas;
    this.delays = new Map(Object.entries(delays));
  }

  quota(projectId: string, resource: string): number {
    const own = this.#quotas.get(projectId)?.limits[resource];
    return own ?? this.#quotas.get(everyProject)?.limits[resource] ?? defaultQuotas[resource] ?? -1;
  }

  setQuota(projectId: string, resource: string, limit: number | undefined): void {
    const row = this.#quotas.get(projectId) ?? this.#quotas.insert({ id: projectId, limits: {} });
    const { [resource]: _, ...others } = row.limits;
    this.#quotas.update(projectId, { limits: limit === undefined ? others : { ...others, [resource]: limit } });
  }

  quotas(): readonly QuotaRow[] {
    return this.#quotas.all().filter(({ id }) => id !== everyProject);
  }

  outcome(operation: string, names: readonly string[]): Outcome {
    const applies = (r: OutcomeRule): boolean =>
      matches(r.operation, operation) && (r.name === undefined || names.includes(r.name));
    return (this.outcomes.find(applies) ?? this.measured.find(applies))?.outcome ?? "ok";
  }
}

function matches(pattern: string, operation: string): boolean {
  return pattern.endsWith("*") ? operation.startsWith(pattern.slice(0, -1)) : pattern === operation;
}
