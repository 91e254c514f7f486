import type { IdentityReference } from "@causeway/api";
import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { ObjectKey, Secret } from "@causeway/kubernetes";
import {
  cloudIdentity,
  isUnauthorized,
  type AvailabilityZone,
  type Cloud,
  type CloudConfig,
  type CloudInformer,
  type CloudPool,
  type CloudWatch,
  type Member,
  type Pool,
} from "@causeway/openstack";
import { RATE_LIMITED, UNAVAILABLE, type Unopened } from "./state.ts";
import { readIdentity, secretKeyOf, type IdentityObjects, type IdentityPlace } from "./resolve.ts";

/** One project of one region, and cached data that no informer holds. */
export interface Session {
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly projectId: string;
  /** "region/project". */
  readonly identity: string;
  /** Nova's zones, at most ten minutes old. */
  zones(signal: AbortSignal): Promise<readonly AvailabilityZone[]>;
  /** Names of the load-balancer providers, read once. */
  providers(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The members of a pool, read again only when the pool has changed, or when they are older than `maxAge`
   * milliseconds: the pool does not change with their states.
   */
  members(pool: Pool, signal: AbortSignal, maxAge?: number): Promise<readonly Member[]>;
  membersChanged(poolId: string): void;
  /** Names of the load-balancer providers that have refused a health monitor. */
  readonly withoutMonitors: Set<string>;
  /** Aliases of Neutron's extensions, read once. */
  extensions(signal: AbortSignal): Promise<ReadonlySet<string>>;
}

/** A session, or why there is none: reason and message for the object's condition. */
export type SessionResult = { readonly ok: true; readonly session: Session } | Unopened;

/** What sessions are made from: the pool of clouds, and the objects that identityRefs lead through. */
export interface SessionsOptions {
  readonly clouds: CloudPool;
  readonly objects: IdentityObjects;
  readonly clock: Clock;
  /** PEM of authorities for clouds whose Secret has none. */
  readonly ca?: string | undefined;
  /**
   * When (ms since epoch) this process got a namespace that another worked on: lists of before may lack what that one
   * created. Default: it has always had it.
   */
  readonly since?: (namespace: string) => number | undefined;
  /** Default: every namespace is worked on. */
  readonly owns?: (namespace: string) => boolean;
  readonly log?: Log | undefined;
  /** Called once for each session made. */
  readonly onOpen: (session: Session) => void;
}

/** Milliseconds from the end of a cloud's last use until its lists are polled no longer. */
const RELEASED_AFTER = 60_000;

/** An informer as it is started. */
export type Startable = Pick<CloudInformer<never>, "start" | "refresh" | "listedAt" | "failure">;

/** Milliseconds that a reconcile waits for a cloud that does not respond. */
const responseTimeout = 10_000;
const zonesLast = 10 * 60_000;

/**
 * Opens the clouds that objects name. The content of the Secret decides which client it is, so a change brings another.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<Cloud, Session>();
  /**
   * By Secret as the informer holds it, which is another object after a change, and by entry: a reconcile does not
   * parse it again.
   */
  readonly #configs = new WeakMap<Secret, Map<string, CloudConfig>>();
  /** The cloud that each reference of each namespace leads to, by both as a text. */
  readonly #uses = new Map<string, { readonly cloud: Cloud; readonly namespace: string }>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The session of a reference, with `needed` informers listed at least once. Never throws but on abort. */
  async get(
    place: IdentityPlace,
    needed: (watch: CloudWatch) => readonly Startable[],
    signal: AbortSignal,
  ): Promise<SessionResult> {
    let opened: Cloud | undefined;
    try {
      const { objects, clouds } = this.#options;
      const key = secretKeyOf(place, objects);
      const client = clouds.get(this.#configOf(place.reference, key));
      opened = client.cloud;
      // A reconcile that waits for the cloud would keep a worker from the objects of others.
      const paused = pauseOf(opened);
      // What the cloud has refused the credentials for is said although another of its services is paused.
      if (paused) return refusedList(needed(client.watch)) ?? paused;
      if (this.#options.owns) this.#use(client.cloud, place);
      const session = await this.#patiently(async (limited) => {
        const opened = await this.#session(client, limited);
        await Promise.all(needed(client.watch).map((informer) => this.#listed(informer, place, limited)));
        return opened;
      }, signal);
      return { ok: true, session };
    } catch (error) {
      signal.throwIfAborted();
      const paused = opened && !isUnauthorized(error) ? pauseOf(opened) : undefined;
      return paused ?? { ok: false, ...explain(error) };
    }
  }

  /**
   * Starts an informer; resolves when it shows what any process created in the cloud for the place's namespace. Rejects
   * when that takes longer than a reconcile waits, with the reason where the cloud gave one.
   */
  listed(informer: Startable, place: Pick<IdentityPlace, "namespace">, signal: AbortSignal): Promise<void> {
    return this.#patiently((limited) => this.#listed(informer, place, limited), signal);
  }

  async #listed(
    informer: Startable,
    { namespace }: Pick<IdentityPlace, "namespace">,
    limited: AbortSignal,
  ): Promise<void> {
    try {
      await informer.start(limited);
      const since = this.#options.since?.(namespace);
      if (since !== undefined && informer.listedAt <= since) await informer.refresh(limited);
    } catch (error) {
      throw limited.aborted && informer.failure !== undefined ? informer.failure : error;
    }
  }

  /**
   * Releases the clouds that only namespaces of other processes use, so that a project is polled by one process. The
   * pool must be this provider's alone.
   */
  releaseOthers(): void {
    const { owns = () => true } = this.#options;
    for (const [use, { cloud, namespace }] of this.#uses) {
      if (owns(namespace)) continue;
      this.#uses.delete(use);
      this.#releaseLater(cloud);
    }
  }

  #use(cloud: Cloud, { namespace, reference }: IdentityPlace): void {
    const use = JSON.stringify([namespace, reference.type, reference.name, reference.cloudName, reference.region]);
    this.#uses.set(use, { cloud, namespace });
  }

  /** Once what is under way with it has ended, unless it is used again. */
  #releaseLater(cloud: Cloud): void {
    void this.#options.clock.sleep(RELEASED_AFTER).then(async () => {
      if ([...this.#uses.values()].some((use) => use.cloud === cloud)) return;
      this.#open.delete(cloud);
      await this.#options.clouds.release(cloud).catch((error: unknown) => {
        this.#options.log?.warn("a cloud that is no longer used could not be released", { reason: messageOf(error) });
      });
    });
  }

  #configOf(reference: IdentityReference, key: ObjectKey): CloudConfig {
    const { objects, ca } = this.#options;
    const secret = objects.secret(key);
    const entry = JSON.stringify([reference.cloudName, reference.region]);
    const known = secret && this.#configs.get(secret)?.get(entry);
    if (known) return known;
    const config = readIdentity(secret, reference, { ...key, ca });
    if (secret) this.#configs.set(secret, new Map([...(this.#configs.get(secret) ?? []), [entry, config]]));
    return config;
  }

  async #session({ cloud, watch }: { cloud: Cloud; watch: CloudWatch }, signal: AbortSignal): Promise<Session> {
    const known = this.#open.get(cloud);
    if (known) return known;
    const identity = await cloudIdentity(cloud, { signal });
    const projectId = await cloud.projectId({ signal });
    const again = this.#open.get(cloud);
    if (again) return again;
    const session: Session = { cloud, watch, identity, projectId, ...remembered(cloud, this.#options.clock) };
    this.#open.set(cloud, session);
    this.#options.onOpen(session);
    return session;
  }

  async #patiently<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const done = new AbortController();
    const late = new AbortController();
    const limited = AbortSignal.any([signal, late.signal]);
    const alarm = this.#options.clock.sleep(responseTimeout, done.signal).then(
      () => late.abort(new CausewayError("OPENSTACK_NOT_ANSWERING", "The cloud has not responded for 10 s")),
      () => {},
    );
    try {
      return await work(limited);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      done.abort();
      await Promise.race([alarm, Promise.resolve()]);
    }
  }
}

/** Why the cloud refused the last list of one of these, if it was for the credentials: what they hold is old then. */
export function refusedList(informers: readonly Startable[]): Unopened | undefined {
  const failed = informers.find(({ failure }) => isUnauthorized(failure));
  return failed && { ok: false, ...explain(failed.failure) };
}

/** What every object needs of a cloud. Load balancers are read apart. */
const services = ["identity", "network", "compute"] as const;

/** The cloud does not take calls now, and said for how long. */
function pauseOf(cloud: Pick<Cloud, "pause">): Unopened | undefined {
  const pause = cloud.pause(...services);
  if (pause === undefined) return undefined;
  const { until, since, isUnavailable } = pause;
  return isUnavailable
    ? { ok: false, reason: UNAVAILABLE, message: unavailable("The cloud", until), until, since }
    : { ok: false, reason: RATE_LIMITED, message: limitsRate("The cloud"), until, since };
}

/** What is reported of a service that limits the rate of requests (429 with Retry-After). */
export const limitsRate = (service: string): string => `${service} limits the rate of requests, and is left alone`;

/** What is reported of a service that does not respond, and says for how long (503 with Retry-After). */
export const unavailable = (service: string, until: number): string =>
  `${service} does not respond (status 503), and asks to wait until ${new Date(until).toISOString()}`;

function explain(error: unknown): { reason: string; message: string } {
  const hint = error instanceof CausewayError && error.hint !== undefined ? ` ${error.hint}` : "";
  const message = `${messageOf(error)}${hint}`;
  if (isUnauthorized(error)) return { reason: "AuthenticationFailed", message };
  if (!(error instanceof CausewayError)) return { reason: "OpenStackError", message };
  if (error.code.startsWith("IDENTITY_") || error.code.startsWith("CLOUD"))
    return { reason: "InvalidIdentity", message };
  return { reason: "OpenStackError", message };
}

type Remembered = Pick<
  Session,
  "zones" | "providers" | "members" | "membersChanged" | "withoutMonitors" | "extensions"
>;

function remembered(cloud: Cloud, clock: Clock): Remembered {
  let zones: { readonly at: number; readonly list: readonly AvailabilityZone[] } | undefined;
  let providers: readonly string[] | undefined;
  const members = new Map<string, { readonly print: string; readonly at: number; readonly list: readonly Member[] }>();
  return {
    async zones(signal) {
      if (zones && clock.now() - zones.at < zonesLast) return zones.list;
      const list = await cloud.compute.availabilityZones({ signal });
      zones = { at: clock.now(), list };
      return list;
    },
    async providers(signal) {
      providers ??= (await cloud.loadBalancing.providers.all({}, { signal })).map((p) => p.name);
      return providers;
    },
    async members(pool, signal, maxAge = Number.POSITIVE_INFINITY) {
      const print = `${pool.updated_at ?? ""}|${pool.members
        .map((m) => m.id)
        .sort()
        .join()}`;
      const known = members.get(pool.id);
      if (known?.print === print && clock.now() - known.at < maxAge) return known.list;
      const at = clock.now();
      const list = await cloud.loadBalancing.members(pool.id).all({}, { signal });
      members.set(pool.id, { print, at, list });
      return list;
    },
    membersChanged(poolId) {
      members.delete(poolId);
    },
    withoutMonitors: new Set(),
    extensions: (signal) => cloud.network.extensions({ signal }),
  };
}
