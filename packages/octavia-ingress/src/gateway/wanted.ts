import type { WantedCondition } from "@causeway/kubernetes";
import { limitsOf, restriction, type DesiredListener, type DesiredPool } from "@causeway/octavia-tree";
import { refsOf, type WantedBalancer } from "../balancer/balancer.ts";
import type { Bundle } from "../certificates/pkcs12.ts";
import { parametersOf } from "../ingress/parameters.ts";
import { certificateName } from "../names.ts";
import { HTTPRoute, refusedRoutes, type ParentReference, type Route, type RouteRule } from "../objects/gateway.ts";
import { backendsOf } from "./backends.ts";
import { commonHostnames } from "./hostnames.ts";
import { httpPolicies, ruleProblem, type HttpMatch, type ListenerPort } from "./http-rules.ts";
import { isServing, judgeListeners, octaviaProtocol, type JudgedListener } from "./listeners.ts";
import type { Observed } from "./observed.ts";
import { allowsNamespace, isParent } from "./references.ts";

/** A route's part in a Gateway, by one of its parent references. */
export interface JudgedRoute {
  readonly route: Route;
  readonly parentRef: ParentReference;
  readonly accepted: WantedCondition;
  readonly resolved: WantedCondition;
}

/** What a Gateway and its routes ask for: the load balancer, and what statuses say about it. */
export interface WantedGateway {
  readonly balancer: WantedBalancer;
  readonly listeners: readonly (JudgedListener & { readonly attached: number })[];
  readonly routes: readonly JudgedRoute[];
  /** Why nothing can be served as it is wanted. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
  /** What is left out, while the rest is served. */
  readonly warnings: readonly string[];
}

/** What is behind one port. */
interface Port {
  readonly listeners: JudgedListener[];
  readonly matches: HttpMatch[];
  defaultPool: string | undefined;
}

/** The load balancer of a Gateway, and what its conditions say. Pure. */
export function wantedGateway(observed: Observed): WantedGateway {
  const judged = judgeListeners(observed);
  const building = new TreeBuilder(observed, judged);
  const routes = observed.routes.flatMap((route) => building.attach(route));
  const { gateway, owner, class: given, config, balancer } = observed;
  const defaults = given?.balancer ?? config.balancer;
  const parameters = parametersOf(gateway, given?.internal, balancer.family);
  const address = addressOf(observed);
  const limits = limitsOf(balancer.found[0]?.provider ?? defaults.provider);
  const problem = given?.problem ?? parameters.problems[0];
  const failure = !limits.http
    ? { reason: "Invalid", message: `load balancer provider ${limits.provider} does not support HTTP listeners` }
    : problem === undefined
      ? address.failure
      : { reason: "InvalidParameters", message: problem };
  const { name, namespace } = gateway.metadata;
  const listeners = building.listeners();
  return {
    failure,
    warnings: building.warnings,
    routes,
    listeners: judged.map((each) => ({ ...each, attached: building.attachedTo(each) })),
    balancer: {
      owner,
      description: `Kubernetes gateway ${name} in namespace ${namespace} from cluster ${config.clusterName}`.slice(
        0,
        255,
      ),
      place: { ...defaults, vipAddress: parameters.internal ? address.value : undefined },
      address: {
        internal: parameters.internal,
        networkId: defaults.floatingNetworkId,
        address: parameters.internal ? undefined : (address.value ?? parameters.floatingIp),
        keep: parameters.keepFloatingIp,
      },
      certificates: building.certificates,
      tree: { tags: [owner.tag], pools: building.pools(), listeners },
    },
  };
}

/** spec.addresses: at most one, an IP address. */
function addressOf({ gateway }: Observed): {
  readonly value?: string;
  readonly failure?: { readonly reason: string; readonly message: string };
} {
  const [first, ...more] = gateway.spec.addresses ?? [];
  if (!first) return {};
  if (more.length > 0 || (first.type ?? "IPAddress") !== "IPAddress")
    return {
      failure: { reason: "UnsupportedAddress", message: "spec.addresses may have one address of type IPAddress" },
    };
  return first.value === undefined || first.value === "" ? {} : { value: first.value };
}

class TreeBuilder {
  readonly warnings: string[] = [];
  readonly certificates = new Map<string, Bundle>();
  readonly #observed: Observed;
  readonly #judged: readonly JudgedListener[];
  readonly #pools = new Map<string, DesiredPool>();
  readonly #ports = new Map<number, Port>();
  readonly #attached = new Map<string, Set<Route>>();

  constructor(observed: Observed, judged: readonly JudgedListener[]) {
    this.#observed = observed;
    this.#judged = judged;
    for (const each of judged.filter(isServing)) {
      const port = this.#ports.get(each.listener.port) ?? { listeners: [], matches: [], defaultPool: undefined };
      port.listeners.push(each);
      this.#ports.set(each.listener.port, port);
      for (const secret of each.secrets) this.#certificate(secret);
    }
  }

  #certificate(secret: string): void {
    const bundle = this.#observed.secrets.get(secret);
    if (bundle && !("problem" in bundle)) this.certificates.set(this.#certificateName(secret, bundle), bundle);
  }

  #certificateName(secret: string, { digest }: Bundle): string {
    return certificateName(this.#observed.owner, secret.replace("/", "."), digest);
  }

  attachedTo({ listener }: JudgedListener): number {
    return this.#attached.get(listener.name)?.size ?? 0;
  }

  pools(): DesiredPool[] {
    return [...this.#pools.values()];
  }

  /** The route's part by each of its references to the Gateway. */
  attach(route: Route): JudgedRoute[] {
    const { name, namespace = "" } = this.#observed.gateway.metadata;
    const own = route.metadata.namespace ?? "";
    return (route.spec.parentRefs ?? [])
      .filter((ref) => isParent(ref, own, { name, namespace }))
      .map((parentRef) => this.#attachBy(route, parentRef));
  }

  #attachBy(route: Route, parentRef: ParentReference): JudgedRoute {
    const { sectionName, port } = parentRef;
    const named = this.#judged.filter(
      ({ listener }) =>
        (sectionName === undefined || listener.name === sectionName) && (port === undefined || listener.port === port),
    );
    const resolved = this.#resolve(route);
    const refused = (reason: string, message: string): JudgedRoute => ({
      route,
      parentRef,
      resolved,
      accepted: { type: "Accepted", status: "False", reason, message },
    });
    if (named.length === 0) return refused("NoMatchingParent", "the Gateway has no such listener");
    if (refusedRoutes.some(({ kind }) => kind === route.kind))
      return refused(
        "NotAllowedByListeners",
        `Octavia serves HTTPRoutes and TLSRoutes; ${route.kind} is not supported`,
      );
    const allowed = named.filter((each) => this.#allows(each, route));
    if (allowed.length === 0) return refused("NotAllowedByListeners", "no listener allows the route");
    const common = allowed.flatMap((each) => {
      const hosts = commonHostnames(each.listener.hostname, route.spec.hostnames);
      return hosts === undefined ? [] : [{ each, hosts }];
    });
    if (common.length === 0) return refused("NoMatchingListenerHostname", "no listener has a hostname of the route");
    const problem = this.#problem(route, common);
    if (problem !== undefined) return refused("UnsupportedValue", problem);
    for (const { each, hosts } of common) {
      const routes = this.#attached.get(each.listener.name) ?? new Set();
      this.#attached.set(each.listener.name, routes.add(route));
      if (isServing(each)) this.#serve(route, each, hosts);
    }
    const accepted: WantedCondition = { type: "Accepted", status: "True", reason: "Accepted", ...note(route) };
    return { route, parentRef, resolved, accepted };
  }

  #allows({ listener, kinds }: JudgedListener, route: Route): boolean {
    if (!kinds.some((kind) => kind === route.kind)) return false;
    const { namespaces, gateway } = this.#observed;
    const name = route.metadata.namespace ?? "";
    const object = namespaces.get(name);
    return allowsNamespace(listener.allowedRoutes ?? {}, gateway.metadata.namespace ?? "", { name, object });
  }

  #problem(
    route: Route,
    common: readonly { readonly each: JudgedListener; readonly hosts: readonly string[] }[],
  ): string | undefined {
    const rules = route.spec.rules ?? [];
    if (route.kind === HTTPRoute.kind) {
      const hosts = common.flatMap((c) => (c.hosts.length === 0 ? [""] : c.hosts));
      return rules.map((rule) => ruleProblem(rule, hosts)).find((problem) => problem !== undefined);
    }
    if (rules.length > 1) return "Octavia sends all connections of a port to one pool: a TLSRoute may have one rule";
    const taken = common.some(({ each }) => (this.#attached.get(each.listener.name)?.size ?? 0) > 0);
    return taken
      ? "Octavia cannot choose by server name: a listener with tls.mode Passthrough takes one TLSRoute, the oldest"
      : undefined;
  }

  /** The first reference that is not resolved decides. */
  #resolve(route: Route): WantedCondition {
    for (const rule of route.spec.rules ?? []) {
      const { problem } = this.#backends(route, rule);
      if (problem) return problem;
    }
    return { type: "ResolvedRefs", status: "True", reason: "ResolvedRefs" };
  }

  #backends({ kind, metadata: { namespace = "" } }: Route, { backendRefs = [] }: RouteRule) {
    const protocol = kind === HTTPRoute.kind ? ("HTTP" as const) : ("HTTPS" as const);
    return backendsOf(this.#observed, { kind, namespace, protocol }, backendRefs);
  }

  #serve(route: Route, { listener }: JudgedListener, hosts: readonly string[]): void {
    const port = this.#ports.get(listener.port);
    if (!port) return;
    const { creationTimestamp = "", namespace = "", name } = route.metadata;
    for (const [i, rule] of (route.spec.rules ?? []).entries()) {
      const redirect = rule.filters?.find(({ requestRedirect }) => requestRedirect)?.requestRedirect;
      const { pool } = this.#backends(route, rule);
      if (!redirect) this.#pools.set(pool.poolName, pool);
      if (route.kind !== HTTPRoute.kind) {
        port.defaultPool ??= pool.poolName;
        continue;
      }
      const target = redirect ? { redirect } : { pool: pool.poolName };
      const matches = (rule.matches ?? []).length === 0 ? [{}] : (rule.matches ?? []);
      for (const host of hosts.length === 0 ? [""] : hosts)
        for (const [j, match] of matches.entries())
          port.matches.push({
            host,
            match,
            target,
            order: `${creationTimestamp} ${namespace}/${name} ${padded(i)} ${padded(j)}`,
          });
    }
  }

  #policies(matches: readonly HttpMatch[], port: ListenerPort): DesiredListener["policies"] {
    const { policies, warnings } = httpPolicies(matches, port);
    this.warnings.push(...warnings);
    return policies;
  }

  listeners(): DesiredListener[] {
    const { owner, balancer, gateway, class: given } = this.#observed;
    const { sourceRanges, timeouts } = parametersOf(gateway, given?.internal);
    const refs = refsOf(balancer.stored);
    return [...this.#ports].flatMap(([port, { listeners, matches, defaultPool }]): DesiredListener[] => {
      const protocol = listeners[0] && octaviaProtocol(listeners[0].listener);
      if (!protocol) return [];
      const tls = protocol === "TERMINATED_HTTPS";
      const secrets = [...new Set(listeners.flatMap((each) => each.secrets))];
      const sni = secrets.flatMap((secret) => {
        const bundle = this.#observed.secrets.get(secret);
        return bundle && !("problem" in bundle) ? (refs.get(this.#certificateName(secret, bundle)) ?? []) : [];
      });
      return [
        {
          listenerName: `${owner.name}_${port}`.slice(-255),
          protocol,
          port,
          defaultPool: protocol === "HTTPS" ? defaultPool : undefined,
          policies: protocol === "HTTPS" ? [] : this.#policies(matches, { port, tls }),
          tags: [owner.tag],
          connectionLimit: -1,
          allowedCidrs: restriction(sourceRanges),
          tlsContainerRef: tls ? sni[0] : undefined,
          sniContainerRefs: tls ? sni : undefined,
          insertHeaders: undefined,
          timeouts,
        },
      ];
    });
  }
}

/** What Octavia does otherwise than the route says. */
function note({ kind, spec }: Route): { message?: string } {
  if (kind === HTTPRoute.kind || (spec.hostnames ?? []).length === 0) return {};
  return { message: "Octavia does not check the server name: all connections of the port go to the route's backends" };
}

function padded(i: number): string {
  return String(i).padStart(4, "0");
}
