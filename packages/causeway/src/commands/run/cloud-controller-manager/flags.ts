import { InputError, parseCidr, suggestion, type Cidr } from "@causeway/foundation";
import { controllerNames, parseDuration, type ControllerName } from "@causeway/cloud-controller-manager";
import type { RawFlags } from "./options.ts";
import { controllerNamed } from "./controller-names.ts";
import { readMigration, type Migration } from "./migration.ts";

/** Where leadership is held; durations in milliseconds. */
export interface Election {
  readonly namespace: string;
  readonly name: string;
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
}

/** The flags after they were checked. */
export interface Flags {
  readonly controllers: ReadonlySet<ControllerName>;
  readonly clusterCidrs: readonly Cidr[];
  /** Undefined: work without being elected. */
  readonly election: Election | undefined;
  /** Undefined: no controller comes from another program. */
  readonly migration: Migration | undefined;
  /** 0: no port is served. */
  readonly port: number;
  readonly serviceSyncs: number;
  readonly userAgent: string;
}

/** @throws FLAG_INVALID, which names the flag */
export function readFlags(raw: RawFlags): Flags {
  if (raw.cloudProvider !== "openstack") throw invalid("cloud-provider", "openstack");
  if (raw.enableLeaderMigration === "true" && raw.leaderElect === "false")
    throw invalid("enable-leader-migration", "used with --leader-elect: leader migration needs Leases");
  if ((raw.tlsCertFile === undefined) !== (raw.tlsPrivateKeyFile === undefined))
    throw invalid("tls-cert-file", "given together with --tls-private-key-file");
  const clusterCidrs = (raw.clusterCidr ?? []).map((text) => {
    const cidr = parseCidr(text);
    if (cidr === undefined) throw invalid("cluster-cidr", "a CIDR, or one for each family");
    return cidr;
  });
  const selected = selectControllers(raw.controllers ?? ["*"]);
  if (raw.configureCloudRoutes === "false") selected.delete("route");
  return {
    controllers: selected,
    clusterCidrs,
    election: raw.leaderElect === "false" ? undefined : electionOf(raw),
    migration: raw.enableLeaderMigration === "true" ? readMigration(raw.leaderMigrationConfig) : undefined,
    port: whole("secure-port", raw.securePort, { from: 0, to: 65_535 }),
    serviceSyncs: whole("concurrent-service-syncs", raw.concurrentServiceSyncs, { from: 1, to: 1_000 }),
    userAgent: ["causeway-cloud-controller-manager", ...(raw.userAgent ?? [])].join(" "),
  };
}

/** "*" all, "name" that one, "-name" not that one; the long names that newer releases have are known, too. */
function selectControllers(words: readonly string[]): Set<ControllerName> {
  const selected = new Set<ControllerName>(words.includes("*") ? controllerNames : []);
  for (const word of words.filter((w) => w !== "*")) {
    const name = controllerNamed(word.replace(/^-/, ""));
    if (name === undefined) {
      const near = suggestion(word, controllerNames);
      throw new InputError(
        "FLAG_INVALID",
        `--controllers names ${JSON.stringify(word)}, which is not a controller${near || "."}`,
        {
          hint: `Give *, or some of ${controllerNames.join(", ")}; -NAME leaves one out.`,
        },
      );
    }
    if (word.startsWith("-")) selected.delete(name);
    else selected.add(name);
  }
  return selected;
}

function electionOf(raw: RawFlags): Election {
  const election = {
    namespace: raw.leaderElectResourceNamespace,
    name: raw.leaderElectResourceName,
    leaseDuration: duration("leader-elect-lease-duration", raw.leaderElectLeaseDuration),
    renewDeadline: duration("leader-elect-renew-deadline", raw.leaderElectRenewDeadline),
    retryPeriod: duration("leader-elect-retry-period", raw.leaderElectRetryPeriod),
  };
  if (election.renewDeadline >= election.leaseDuration)
    throw invalid("leader-elect-renew-deadline", "less than the lease duration");
  if (election.retryPeriod * 1.2 >= election.renewDeadline)
    throw invalid("leader-elect-retry-period", "less than the renew deadline by a fifth");
  return election;
}

function duration(flag: string, text: string): number {
  const time = parseDuration(text);
  if (time === undefined || time <= 0) throw invalid(flag, 'a duration such as "15s"');
  return time;
}

function whole(flag: string, text: string, bounds: { readonly from: number; readonly to: number }): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= bounds.from && number <= bounds.to) return number;
  throw invalid(flag, `a whole number from ${bounds.from} to ${bounds.to}`);
}

function invalid(flag: string, expected: string): InputError {
  return new InputError("FLAG_INVALID", `--${flag} must be ${expected}.`, {
    hint: "Correct the flag; --help lists its values.",
  });
}
