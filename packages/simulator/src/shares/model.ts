import { pairsFit } from "../kernel/pairs.ts";
import type { Context, Hono } from "hono";
import { computeError } from "../compute/model.ts";
import { ownedBy } from "../kernel/rest/owned.ts";
import type { Caller, Kernel, Table } from "../kernel/interface.ts";

/** Metadata of shares and other objects. */
export type Labels = Readonly<Record<string, string>>;

/** A share; `size` is in GiB. */
export interface Share {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly user_id: string;
  readonly status: string;
  readonly size: number;
  readonly share_proto: string;
  readonly is_public: boolean;
  readonly metadata: Labels;
  readonly snapshot_id: string | null;
  readonly share_network_id: string | null;
  /** Absent: the default type, in a state that an older version wrote. */
  readonly type?: { readonly id: string; readonly name: string };
  /** What its type let it do when it was made. Absent: what the default type does. */
  readonly supports?: Support;
  /** See `placeOf`. Absent: as its status says. */
  readonly place?: "none" | "placed" | "exported";
  /** Its backend had it before Manila did. */
  readonly managed?: true;
  /** Represents its files; absent: none. */
  readonly content?: string;
  readonly created_at: string;
}

/** What may be done with the snapshots of a share. */
export interface Support {
  readonly snapshot_support: boolean;
  readonly create_share_from_snapshot_support: boolean;
  readonly revert_to_snapshot_support: boolean;
  readonly mount_snapshot_support: boolean;
}

/** What the share's type let it do when it was made. */
export const supportOf = ({ supports }: Share): Support =>
  supports ?? {
    snapshot_support: true,
    create_share_from_snapshot_support: true,
    revert_to_snapshot_support: false,
    mount_snapshot_support: false,
  };

/** Whether a backend has the share ("none", "placed"), and whether its location is returned, too ("exported"). */
export const placeOf = ({ place, status }: Share): NonNullable<Share["place"]> =>
  place ?? (status === "creating" ? "none" : "exported");

/** A kind of shares. Its requirements for backends are stored and returned; all shares are created in the same way. */
export interface ShareType {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly is_public: boolean;
  readonly extra_specs: Readonly<Record<string, string>>;
  /** Who may use one that is not public. */
  readonly projects: readonly string[];
  readonly created_at: string;
}

/** A snapshot; `share_size` is the share's when it was made, in GiB. */
export interface ShareSnapshot {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly user_id: string;
  readonly share_id: string;
  readonly share_proto: string;
  readonly share_size: number;
  readonly status: string;
  readonly metadata: Labels;
  readonly content?: string;
  readonly created_at: string;
}

/** Who may mount a share: `access_to` is an address, a user or a cephx name, by `access_type`. */
export interface AccessRule {
  readonly id: string;
  readonly share_id: string;
  readonly access_type: string;
  readonly access_to: string;
  readonly access_level: string;
  /** Of a cephx user, once the rule is active. */
  readonly access_key: string | null;
  readonly state: string;
  readonly metadata: Labels;
  readonly created_at: string;
  readonly updated_at: null;
}

/** Where Manila places share servers in Neutron, in each availability zone. */
export interface ShareNetwork {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly subnets: readonly ShareSubnet[];
  /** Ids of security services. */
  readonly services: readonly string[];
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** Where in Neutron a share network is, in one availability zone or, with null, in all. */
export interface ShareSubnet {
  readonly id: string;
  readonly availability_zone: string | null;
  readonly neutron_net_id: string | null;
  readonly neutron_subnet_id: string | null;
  readonly created_at: string;
  readonly updated_at: string | null;
}

/**
 * The directory of the users of shares: LDAP, Kerberos or Active Directory. The password is returned to its project, as
 * in Manila.
 */
export interface SecurityService {
  readonly id: string;
  readonly project_id: string;
  readonly type: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly dns_ip: string | null;
  readonly server: string | null;
  readonly domain: string | null;
  readonly user: string | null;
  readonly password: string | null;
  readonly ou: string | null;
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** What Manila's routes work with. */
export interface ShareParts {
  readonly kernel: Kernel;
  readonly shares: Table<Share>;
  readonly snapshots: Table<ShareSnapshot>;
  readonly rules: Table<AccessRule>;
  readonly networks: Table<ShareNetwork>;
  readonly services: Table<SecurityService>;
  readonly types: Table<ShareType>;
}

/** What the middleware sets for every route; `minor` is 65 of microversion 2.65. */
export type ShareVariables = { caller: Caller; minor: number; requestId: string };
/** The Hono environment of Manila's routes. */
export type ShareEnv = { Variables: ShareVariables };
/** Where Manila's routes are added. */
export type ShareApp = Hono<ShareEnv>;
/** A request to Manila. */
export type ShareContext = Context<ShareEnv>;

/** Manila's tables. */
export const shareParts = (kernel: Kernel): ShareParts => ({
  kernel,
  shares: kernel.table("share", ["project_id"]),
  snapshots: kernel.table("share_snapshot", ["project_id", "share_id"]),
  rules: kernel.table("_share_access", ["share_id"]),
  networks: kernel.table("share_network", ["project_id"]),
  services: kernel.table("security_service", ["project_id"]),
  types: kernel.table("_share_type", ["name"]),
});

/** The type "default": its id is the same in every cloud of ours. */
export const typeId = "5a0e6c1a-6f6b-4c0e-9d55-2f4f4a3b1c77";

/** The time as Manila writes it: with microseconds and without a zone. */
export const instantOf = (kernel: Kernel): string => `${new Date(kernel.clock.now()).toISOString().slice(0, 23)}000`;
/** Manila's 404, also for another project's object. */
export const notThere = () => computeError(404, "The resource could not be found.");
/** Manila's 403 of its policy. */
export const refused = () => computeError(403, "Access was denied to this resource.");
/** A body without what is to be made; Manila has 422 for it. */
export const unprocessable = () => computeError(422, "Unable to process the contained instructions");

/** How Manila answers requests about most of its resources. */
export const manila = { statuses: { create: 200, delete: 202 }, bodyMissing: unprocessable } as const;

/** Throws Manila's 403 unless the caller is an administrator. */
export function requireAdmin(c: ShareContext): void {
  if (!c.get("caller").isAdmin) throw refused();
}

/** An object of the caller's project, or of every project for an administrator; else 404. */
export const owned = <T extends { readonly project_id: string }>(
  c: ShareContext,
  object: T | undefined,
  missing = notThere,
): T => ownedBy(c.get("caller"), object, missing);

/** A share of the caller's project, a public one, or one of every project for an administrator; else 404. */
export const shareFor = (c: ShareContext, { shares }: ShareParts, id: string): Share => {
  const share = shares.get(id);
  return share?.is_public === true ? share : owned(c, share);
};

/** A flag of a query that is set. */
export const isTrue = (word: string | undefined): boolean => /^(1|true)$/i.test(word ?? "");

/** An administrator requests what all projects have. */
export const asksForAll = (c: ShareContext): boolean => c.get("caller").isAdmin && isTrue(c.req.query("all_tenants"));

/** The two links of a resource: with the version in the path, and the bookmark without it. */
export const linksOf = (c: ShareContext, kind: string, id: string): readonly object[] => {
  const root = `${new URL(c.req.url).origin}/share`;
  return [
    { rel: "self", href: `${root}/v2/${kind}/${id}` },
    { rel: "bookmark", href: `${root}/${kind}/${id}` },
  ];
};

/**
 * Objects that meet the query's filters, newest first, a page of them. `plain` are the fields that may be filtered by.
 */
export function pageOf<T extends object>(c: ShareContext, all: readonly T[], plain: readonly string[]): readonly T[] {
  const query = new URL(c.req.url).searchParams;
  const whole = (name: string, otherwise: number) => {
    const text = query.get(name);
    if (text !== null && !/^\d+$/.test(text)) throw computeError(400, `${name} param must be an integer`);
    return text === null ? otherwise : Number(text);
  };
  const fits = (object: T) =>
    plain.every((field) => {
      const wanted = query.get(field) ?? (field === "name" ? query.get("display_name") : null);
      const has = (object as Readonly<Record<string, unknown>>)[field];
      if (field === "metadata") return wanted === null || pairsFit(has as Readonly<Record<string, string>>, wanted);
      const part = query.get(`${field}~`);
      return (wanted === null || String(has) === wanted) && (part === null || String(has).includes(part));
    });
  const offset = whole("offset", 0);
  return all
    .filter(fits)
    .toReversed()
    .slice(offset, offset + whole("limit", 1000));
}
