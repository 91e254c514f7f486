import { randomBytes, randomInt } from "node:crypto";
import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import { connectCloud, isUnauthorized, type Cloud, type CloudConfig, type Identity } from "@causeway/openstack";

type User = Identity.User;

/** The account that makes a user for each cluster, and where. */
export interface TrusteeOptions {
  /** It may create users in the domain, and give them roles on every project. */
  readonly account: CloudConfig;
  /** Id or name of the domain of these users, in which there are no others. */
  readonly domain: string;
  /** Roles that each has on its cluster's project. */
  readonly roles: readonly string[];
}

/** What the credential of a cluster is for. */
export interface TrusteeFor {
  /** Of the cluster. */
  readonly uuid: string;
  readonly name: string;
  readonly projectId: string;
  /** Key pair of its nodes. Nova keeps key pairs by user: the cluster's has one of the same name and key. */
  readonly keypair?: { readonly name: string; readonly publicKey?: string | undefined } | undefined;
}

/**
 * An application credential in Keystone of a cluster's user. Keystone shows the secret once, in the create's response.
 */
export interface IssuedCredential {
  readonly userId: string;
  readonly id: string;
  readonly secret: string;
}

/** A user in the trustee domain that this installation created for one cluster. */
export interface Trustee {
  readonly id: string;
  /** Of its cluster. */
  readonly uuid: string;
}

/**
 * Users of clusters: what belongs to a cluster lives as long as it does, and not as long as the user who created it.
 */
export interface Trustees {
  /**
   * A new application credential of the cluster's user, who is created if there is none.
   * @throws MAGNUM_TRUSTEE_DOMAIN, MAGNUM_TRUSTEE_ROLE, and what Keystone refuses
   */
  issue(cluster: TrusteeFor, serial: number, signal: AbortSignal): Promise<IssuedCredential>;
  /**
   * Deletes the application credentials of the cluster's user that were issued with a lower serial. Those with the same
   * one remain: another request may have one that it has not written yet.
   */
  retire(serial: number, cluster: TrusteeFor, signal: AbortSignal): Promise<void>;
  /** The users of clusters of this installation, with the clusters' uuids: those that have its mark. */
  own(signal: AbortSignal): Promise<readonly Trustee[]>;
  /** Deletes this user, if it still has the mark. */
  discard(trustee: Trustee, signal: AbortSignal): Promise<void>;
  /** Deletes the cluster's user, and with it its key pair and credentials. Nothing happens if there is none. */
  remove(cluster: TrusteeFor, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * Deletes the user of a cluster that perhaps never had one. Where there is no domain for users of clusters there is
 * none.
 */
export async function removeIfAny(
  trustees: Pick<Trustees, "remove"> | undefined,
  cluster: TrusteeFor,
  signal: AbortSignal,
): Promise<void> {
  try {
    await trustees?.remove(cluster, signal);
  } catch (error) {
    if (!(error instanceof CausewayError) || error.code !== "MAGNUM_TRUSTEE_DOMAIN") throw error;
  }
}

/** The name of a cluster's user; its domain has no others of this form. */
const nameOf = (uuid: string): string => `magnum-${uuid}`;

/** Each credential has a name of its own, which says when it was issued in relation to others of the cluster. */
const credentialName = (uuid: string, serial: number): string =>
  `${nameOf(uuid)}-${serial}-${randomBytes(6).toString("hex")}`;

function serialOf(name: string, uuid: string): number {
  const [, serial = "0"] = /^(\d{1,15})-[0-9a-f]{12}$/.exec(name.slice(nameOf(uuid).length + 1)) ?? [];
  return Number(serial);
}

/**
 * What the description of a user ends with: other installations may have clusters in the same domain. Names of clusters
 * have no brackets.
 */
const markOf = (installation: string): string => `[installation ${installation}]`;

const isMarked = ({ description = "" }: User): boolean => / \[installation [^\]]+\]$/.test(description);

const isOwn = ({ description = "" }: User, id: string): boolean => description.endsWith(` ${markOf(id)}`);

const NAMED = /^magnum-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The key of the user who creates the cluster, under the name by which its machines ask for it. */
async function ensureKeypair(own: Cloud, keypair: TrusteeFor["keypair"], signal: AbortSignal): Promise<void> {
  if (keypair?.publicKey === undefined) return;
  const { name, publicKey } = keypair;
  if ((await own.compute.keypairs.find(name, { signal })) !== undefined) return;
  const recover = () => own.compute.keypairs.find(name, { signal });
  await own.compute.keypairs.create({ name, public_key: publicKey }, { signal, recover });
}

/** Milliseconds after a change of a password in which new tokens may count as old ones. */
export const REVOKED = 1_100;
/** Each replica gives the user a password for its work: of two at the same time one has to do it again. */
const ATTEMPTS = 5;

const isId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** What `createTrustees` needs in addition to the account: the mark of its users, clock and log. */
export interface TrusteesOptions {
  /** What no other installation has. Undefined: it cannot be read; users that are created then have no mark. */
  readonly installation: (signal: AbortSignal) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Users of clusters in Keystone, made by the account of --trustee-cloud.
 * @throws MAGNUM_TRUSTEE_DOMAIN from each call that needs the domain while there is none of that name
 */
export function createTrustees(
  { account, domain, roles }: TrusteeOptions,
  { installation, clock, log }: TrusteesOptions,
): Trustees {
  const cloud = connectCloud(account, { clock, log });
  const { identity } = cloud;
  let domainId: string | undefined;

  const domainOf = async (signal: AbortSignal): Promise<string> => {
    const call = { signal };
    if (domainId !== undefined) return domainId;
    const known = isId(domain) || domain === "default" ? await identity.domains.find(domain, call) : undefined;
    const [named] = known === undefined ? await identity.domains.all({ name: domain }, call) : [known];
    if (named === undefined)
      throw new CausewayError("MAGNUM_TRUSTEE_DOMAIN", `there is no domain ${domain} for the users of clusters`, {
        hint: "Create it with `openstack domain create`, or name another with --trustee-domain.",
      });
    return (domainId = named.id);
  };

  const findUser = async (uuid: string, signal: AbortSignal): Promise<User | undefined> => {
    const query = { name: nameOf(uuid), domain_id: await domainOf(signal) };
    const found = await identity.users.all(query, { signal });
    return found.find(({ name }) => name === nameOf(uuid));
  };

  const ensureUser = async ({ uuid, name }: TrusteeFor, password: string, signal: AbortSignal): Promise<User> => {
    const found = await findUser(uuid, signal);
    const id = await installation(signal);
    const description = `Cluster ${name} of the Magnum API${id === undefined ? "" : ` ${markOf(id)}`}`;
    if (found !== undefined) {
      // Users from before there were marks get one. Another installation's mark remains: it may be a copy of this one
      // whose cluster lives, and would lose its user when this one's row goes.
      const marked = id === undefined || isMarked(found) ? {} : { description };
      if (id !== undefined && isMarked(found) && !isOwn(found, id))
        log.warn("the user of a cluster has the mark of another installation: no sweep of this one deletes it", {
          user: found.id,
          cluster: uuid,
        });
      // The password of an earlier attempt was not kept.
      const renewed = await identity.users.update(found.id, { password, ...marked }, { signal });
      // Keystone revokes all tokens of the user that were issued in the second of the change, those after it included.
      await clock.sleep(REVOKED, signal);
      return renewed;
    }
    const body = { name: nameOf(uuid), domain_id: await domainOf(signal), password, description };
    const made = await identity.users.create(body, { signal, recover: () => findUser(uuid, signal) });
    return made;
  };

  const grantRoles = async (user: User, projectId: string, signal: AbortSignal): Promise<void> => {
    for (const name of roles) {
      const [role] = await identity.roles.all({ name }, { signal });
      if (role === undefined)
        throw new CausewayError("MAGNUM_TRUSTEE_ROLE", `there is no role ${name} for the users of clusters`, {
          hint: "Specify roles of the cloud with --trustee-roles.",
        });
      await identity.grant({ role: role.id, user: user.id, project: projectId }, { signal });
    }
  };

  /** As the cluster's user, whose password is renewed for it and then forgotten. */
  const asTrustee = async <T>(
    cluster: TrusteeFor,
    work: (own: Cloud, user: User) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      const password = randomBytes(32).toString("base64url");
      const user = await ensureUser(cluster, password, signal);
      await grantRoles(user, cluster.projectId, signal);
      const { scope: _, ...base } = account;
      const auth = { type: "password", userId: user.id, password } as const;
      const own = connectCloud({ ...base, auth, scope: { projectId: cluster.projectId } }, { clock, log });
      try {
        return await work(own, user);
      } catch (error) {
        // Another process has given the user a password meanwhile.
        if (!isUnauthorized(error) || attempt === ATTEMPTS) throw error;
      } finally {
        await own.close();
      }
      await clock.sleep(randomInt(REVOKED * attempt), signal);
    }
  };

  return {
    issue: (cluster, serial, signal) =>
      asTrustee(
        cluster,
        async (own, user) => {
          await ensureKeypair(own, cluster.keypair, signal);
          // Restricted: it makes no others, and is deleted with its user.
          const name = credentialName(cluster.uuid, serial);
          const made = await own.identity.applicationCredentials(user.id).create({ name }, { signal });
          return { userId: user.id, id: made.id, secret: made.secret ?? "" };
        },
        signal,
      ),
    retire: (serial, cluster, signal) =>
      asTrustee(
        cluster,
        async (own, user) => {
          const all = own.identity.applicationCredentials(user.id);
          for (const { id, name } of await all.all({}, { signal }))
            if (serialOf(name, cluster.uuid) < serial) await all.delete(id, { signal });
        },
        signal,
      ),
    async own(signal) {
      const id = await installation(signal);
      if (id === undefined) return [];
      const users = await identity.users.all({ domain_id: await domainOf(signal) }, { signal });
      return users.flatMap((user) => {
        const [, uuid] = NAMED.exec(user.name) ?? [];
        return uuid !== undefined && isOwn(user, id) ? [{ id: user.id, uuid }] : [];
      });
    },
    async discard({ id, uuid }, signal) {
      const own = await installation(signal);
      const user = await findUser(uuid, signal);
      if (own === undefined || user?.id !== id || !isOwn(user, own)) return;
      await identity.users.delete(id, { signal });
    },
    async remove(cluster, signal) {
      const user = await findUser(cluster.uuid, signal);
      if (user === undefined) return;
      const { keypair } = cluster;
      if (keypair !== undefined)
        await asTrustee(cluster, (own) => own.compute.keypairs.delete(keypair.name, { signal }), signal).catch(
          (error: unknown) => {
            if (signal.aborted) throw error;
            // The project may be gone, too. Nova has such key pairs of all deleted users.
            log.warn("the key pair of a cluster's user could not be deleted", {
              user: user.id,
              error: messageOf(error),
            });
          },
        );
      await identity.users.delete(user.id, { signal });
    },
    close: () => cloud.close(),
  };
}
