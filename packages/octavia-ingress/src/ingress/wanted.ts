import { limitsOf, restriction, type DesiredListener, type DesiredPool } from "@causeway/octavia-tree";
import { refsOf, type WantedBalancer } from "../balancer/balancer.ts";
import type { Bundle } from "../certificates/pkcs12.ts";
import { annotation, certificateName, poolName, type Owner } from "../names.ts";
import type { Ingress, IngressBackend } from "../objects/ingress.ts";
import { membersOf } from "../objects/members.ts";
import type { Observed } from "./observed.ts";
import { parametersOf, type IngressParameters } from "./parameters.ts";
import { matchKey, matchProblem, policiesOf, type Match } from "./rules.ts";

/** What Ingresses want of the cloud, and what of it cannot be. */
export interface Wanted {
  readonly balancer: WantedBalancer;
  /** They keep everything as it is. */
  readonly failures: readonly string[];
  /** The rest is served. By their messages, what each is about. */
  readonly warnings: ReadonlyMap<string, Ingress>;
}

const HTTP = 80;
const HTTPS = 443;

/** One listener, as it is put together. */
interface Side {
  readonly port: number;
  readonly matches: Match[];
  /** The pools of matches by their keys. */
  readonly taken: Map<string, string>;
  defaultPool: string | undefined;
}

/** The load balancer of some Ingresses. Pure. */
export function wantedOf(observed: Observed): Wanted {
  const { owner, config, class: given, balancer } = observed;
  const building = new TreeBuilder(observed);
  for (const ingress of observed.served) building.add(ingress);
  const parameters = observed.served.map((ingress) => ({
    ingress,
    ...parametersOf(ingress, given.internal, balancer.family),
  }));
  const usable = parameters.filter(({ problems }) => problems.length === 0);
  const first = owner.oneNamespace ? parameters[0] : (usable[0] ?? parameters[0]);
  differing(first, parameters, building);
  const listeners = first ? building.listeners(first) : [];
  const limits = limitsOf(balancer.found[0]?.provider ?? given.balancer.provider);
  const failures = [
    ...(given.problem === undefined ? [] : [`the parameters of the class: ${given.problem}`]),
    ...(first?.problems ?? []),
    ...(limits.http ? [] : [`load balancer provider ${limits.provider} does not support HTTP listeners`]),
    ...building.failures(),
  ];
  const { name, namespace } = observed.served[0]?.metadata ?? { name: "" };
  const description = owner.oneNamespace
    ? `Kubernetes ingress ${name} in namespace ${namespace} from cluster ${config.clusterName}`
    : `Kubernetes ingress class ${observed.subject.metadata.name} from cluster ${config.clusterName}`;
  return {
    failures,
    warnings: building.warnings,
    balancer: {
      owner,
      description: description.slice(0, 255),
      place: { ...given.balancer },
      address: {
        internal: first?.internal ?? true,
        networkId: given.balancer.floatingNetworkId,
        address: first?.floatingIp,
        keep: first?.keepFloatingIp ?? false,
      },
      certificates: building.certificates,
      tree: {
        tags: [owner.tag],
        pools: [...building.pools.values()],
        listeners,
      },
    },
  };
}

interface Read extends IngressParameters {
  readonly ingress: Ingress;
}

/**
 * On a shared load balancer the oldest Ingress without errors says how its listeners and its address are; errors of the
 * others keep nothing from being served.
 */
function differing(first: Read | undefined, all: readonly Read[], building: TreeBuilder): void {
  const said = (p: IngressParameters | undefined): string =>
    JSON.stringify([p?.internal, p?.floatingIp, p?.sourceRanges, p?.timeouts]);
  const problem = `annotations ${annotation.internal} and others of the load balancer are those of the oldest Ingress of the class`;
  for (const other of all) {
    if (other === first) continue;
    for (const wrong of other.problems) building.warn(other.ingress, `${wrong}; it is not used`);
    if (said(other) !== said(first)) building.warn(other.ingress, problem);
  }
}

/** Each match is an L7 policy: Octavia changes one after the other, and each of them for all of its load balancer. */
const MAXIMUM_MATCHES = 1000;

class TreeBuilder {
  readonly warnings = new Map<string, Ingress>();
  readonly pools = new Map<string, DesiredPool>();
  readonly certificates = new Map<string, Bundle>();
  readonly #observed: Observed;
  readonly #sides = new Map<number, Side>();
  /** Names of certificates that an Ingress wants, in their order. */
  readonly #names: string[] = [];
  readonly #problems: string[] = [];
  /** With TLS. */
  readonly #secure: Ingress[] = [];

  constructor(observed: Observed) {
    this.#observed = observed;
  }

  add(ingress: Ingress): void {
    const { spec } = ingress;
    const secrets = (spec.tls ?? []).flatMap(({ secretName }) =>
      secretName === undefined || secretName === "" ? [] : secretName,
    );
    for (const name of secrets) this.#certificate(ingress, name);
    const side = this.#side(secrets.length > 0 ? HTTPS : HTTP);
    if (secrets.length > 0) this.#secure.push(ingress);
    const fallback = this.#fallback(ingress, side);
    for (const { host = "", http } of spec.rules ?? []) {
      for (const { path = "/", pathType, backend } of http?.paths ?? []) {
        const pool = this.#pool(ingress, backend);
        if (pool !== undefined) this.#match(ingress, side, { host, path, pathType, pool });
      }
      // A host without paths sends everything to the default backend of its Ingress.
      if ((http?.paths ?? []).length === 0 && fallback !== undefined)
        this.#match(ingress, side, { host, path: "/", pathType: "Prefix", pool: fallback });
    }
  }

  /** The pool of its default backend, which serves what matches nothing where no older Ingress has one. */
  #fallback(ingress: Ingress, side: Side): string | undefined {
    const { defaultBackend } = ingress.spec;
    const pool = defaultBackend && this.#pool(ingress, defaultBackend);
    if (pool === undefined) return undefined;
    side.defaultPool ??= pool;
    if (side.defaultPool !== pool)
      this.warn(ingress, "its default backend is not used: an older Ingress of the same load balancer has one");
    return pool;
  }

  #match(ingress: Ingress, side: Side, match: Match): void {
    const problem = matchProblem(match, side.port);
    if (problem !== undefined) return this.warn(ingress, problem);
    const key = matchKey(match, side.port);
    const equal = side.taken.get(key);
    if (equal !== undefined && equal !== match.pool)
      this.warn(ingress, `${match.host}${match.path} is already served by an earlier rule of the same load balancer`);
    if (equal !== undefined) return;
    if (side.matches.length >= MAXIMUM_MATCHES)
      return this.warn(ingress, `rules are left out: a listener has ${MAXIMUM_MATCHES} at most`);
    side.taken.set(key, match.pool);
    side.matches.push(match);
  }

  warn(ingress: Ingress, problem: string): void {
    const { namespace, name } = ingress.metadata;
    this.warnings.set(`${namespace}/${name}: ${problem}`, ingress);
  }

  #side(port: number): Side {
    const side = this.#sides.get(port) ?? {
      port,
      matches: [],
      taken: new Map<string, string>(),
      defaultPool: undefined,
    };
    this.#sides.set(port, side);
    return side;
  }

  /** The name of the backend's pool. A Service that cannot be reached has a pool without members, which answers 503. */
  #pool(ingress: Ingress, { service, resource }: IngressBackend): string | undefined {
    if (!service) {
      this.warn(ingress, `backend ${resource?.kind ?? "(none)"} ${resource?.name ?? ""} is not a Service`);
      return undefined;
    }
    const { owner, config, balancer } = this.#observed;
    const { namespace = "" } = ingress.metadata;
    const port = service.port ?? {};
    const name = poolName(owner, namespace, service.name, port);
    if (this.pools.has(name)) return name;
    const place = this.#observed.class.balancer.members;
    const { members, problem } = membersOf(this.#observed, place, { service: `${namespace}/${service.name}`, port });
    if (problem !== undefined) this.warn(ingress, `Service ${service.name} ${problem}`);
    const { memberCosts } = limitsOf(balancer.found[0]?.provider);
    this.pools.set(name, {
      poolName: name,
      poolProtocol: "HTTP",
      algorithm: "ROUND_ROBIN",
      persistence: null,
      members,
      monitor: undefined,
      monitorName: "",
      serial: config.balancer.serial,
      memberCosts,
    });
    return name;
  }

  #certificate(ingress: Ingress, secret: string): void {
    const { owner, secrets } = this.#observed;
    const { namespace = "" } = ingress.metadata;
    const bundle = secrets.get(`${namespace}/${secret}`) ?? { problem: "does not exist" };
    if ("problem" in bundle) {
      const problem = `Secret ${secret} ${bundle.problem}`;
      this.#problems.push(problem);
      return this.warn(ingress, problem);
    }
    const name = nameOf(owner, namespace, secret, bundle.digest);
    if (!this.certificates.has(name)) this.#names.push(name);
    this.certificates.set(name, bundle);
  }

  /** Without a certificate nothing is served on the port of HTTPS, and what is there remains. */
  failures(): string[] {
    const problem = this.#observed.owner.oneNamespace ? this.#insecure() : undefined;
    return problem === undefined ? [] : [problem];
  }

  /** Why there is no certificate for the port of HTTPS. */
  #insecure(): string | undefined {
    if (!this.#sides.has(HTTPS)) return undefined;
    if (!this.#observed.keyManager) return "TLS Ingress not supported because of Key Manager service unavailable";
    return this.#names.length > 0
      ? undefined
      : `no certificate for the listener of HTTPS: ${this.#problems.join("; ")}`;
  }

  /**
   * The references for the port of HTTPS. On a shared load balancer those that it has remain while there are none to
   * take their place.
   */
  #certificates(): readonly string[] {
    const { balancer, owner } = this.#observed;
    const problem = owner.oneNamespace ? undefined : this.#insecure();
    if (problem === undefined) {
      const refs = refsOf(balancer.stored);
      return this.#names.flatMap((name) => refs.get(name) ?? []);
    }
    for (const ingress of this.#secure) this.warn(ingress, problem);
    this.certificates.clear();
    const listener = balancer.tree?.listeners.find(({ protocol_port: port }) => port === HTTPS);
    const now = [listener?.default_tls_container_ref ?? "", ...(listener?.sni_container_refs ?? [])];
    return [...new Set(now.filter((ref) => ref !== ""))];
  }

  listeners({ sourceRanges, timeouts }: IngressParameters): DesiredListener[] {
    const { owner } = this.#observed;
    const sni = this.#certificates();
    // The others of a shared load balancer do not wait for a certificate.
    const without = !owner.oneNamespace && sni.length === 0 && this.certificates.size === 0;
    const sides = [...this.#sides.values()].filter(({ port }) => port !== HTTPS || !without);
    return sides.map((side) => ({
      listenerName: side.port === HTTP && this.#sides.size > 1 ? `${owner.name}_http`.slice(0, 255) : owner.name,
      protocol: side.port === HTTPS ? "TERMINATED_HTTPS" : "HTTP",
      port: side.port,
      defaultPool: side.defaultPool,
      policies: policiesOf(side.matches, side.port),
      tags: [],
      connectionLimit: -1,
      allowedCidrs: restriction(sourceRanges),
      tlsContainerRef: side.port === HTTPS ? sni[0] : undefined,
      sniContainerRefs: side.port === HTTPS ? sni : undefined,
      insertHeaders: undefined,
      timeouts,
    }));
  }
}

function nameOf(owner: Owner, namespace: string, secret: string, digest: string): string {
  return certificateName(owner, owner.oneNamespace ? secret : `${namespace}.${secret}`, digest);
}
