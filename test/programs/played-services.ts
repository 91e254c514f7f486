/**
 * Services of a played node: names in each pod's /etc/hosts, and a proxy for each Service, which is its load balancer
 * as well.
 */
import { writeFileSync } from "node:fs";
import { createServer, connect, type Server } from "node:net";
import { Pod, Service, type Informers, type KubernetesClient, type ObjectKey } from "@causeway/kubernetes";

export interface PlayedServicesOptions {
  readonly informers: Informers;
  readonly client: KubernetesClient;
  readonly address: () => string;
  /**
   * Of a pod that is ready, as the node knows it or as its status says. A proxy leads to a pod before its status says
   * so: a test that waited for that status connects at once. It does until the status says otherwise, as on real nodes.
   */
  readonly readyIp: (pod: Pod) => string | undefined;
}

interface Proxy {
  readonly ip: string;
  readonly servers: Server[];
}

export class PlayedServices {
  readonly #options: PlayedServicesOptions;
  readonly #proxies = new Map<string, Proxy>();
  readonly #written = new Map<string, string>();

  constructor(options: PlayedServicesOptions) {
    this.#options = options;
    options.informers.for(Service);
  }

  async update(pods: readonly Pod[], hostsOf: (pod: Pod) => { file: string; ip: string } | undefined): Promise<void> {
    const { informers } = this.#options;
    const names: string[] = [];
    for (const service of informers.for(Service).list()) {
      const { namespace = "", name } = service.metadata;
      const selected = pods.filter(
        ({ metadata }) => metadata.namespace === namespace && selects(service.spec.selector, metadata.labels),
      );
      if (service.spec.clusterIP === "None") {
        for (const pod of selected) {
          const ip = hostsOf(pod)?.ip;
          if (ip !== undefined) names.push(`${ip} ${pod.metadata.name}.${name}.${namespace}.svc`);
        }
        continue;
      }
      if (service.spec.selector === undefined) continue;
      const proxy = this.#proxyOf(service);
      names.push(`${proxy.ip} ${name}.${namespace}.svc`);
      await this.#assign(service, proxy.ip);
    }
    const text = ["127.0.0.1 localhost", ...names, ""].join("\n");
    for (const pod of pods) {
      const file = hostsOf(pod)?.file;
      if (file === undefined || this.#written.get(file) === text) continue;
      writeFileSync(file, text);
      this.#written.set(file, text);
    }
  }

  close(): void {
    for (const { servers } of this.#proxies.values()) for (const server of servers) server.close();
  }

  #proxyOf(service: Service): Proxy {
    const key = `${service.metadata.namespace}/${service.metadata.name}`;
    const known = this.#proxies.get(key);
    if (known) return known;
    const proxy: Proxy = { ip: this.#options.address(), servers: [] };
    for (const { port } of service.spec.ports ?? []) {
      const server = createServer((client) => {
        const choices = this.#targets(service.metadata, port);
        const target = choices[Math.floor(Math.random() * choices.length)];
        client.on("error", () => {});
        if (target === undefined) {
          client.destroy();
          return;
        }
        const upstream = connect(target.port, target.ip);
        upstream.on("error", () => client.destroy());
        client.on("close", () => upstream.destroy());
        upstream.on("close", () => client.destroy());
        client.pipe(upstream).pipe(client);
      });
      server.listen(port, proxy.ip);
      proxy.servers.push(server);
    }
    this.#proxies.set(key, proxy);
    return proxy;
  }

  /** The ports of ready pods behind a port of the Service, as both are now. */
  #targets({ namespace = "", name }: Partial<ObjectKey>, at: number): { ip: string; port: number }[] {
    const { informers, readyIp } = this.#options;
    const service = informers.for(Service).get({ namespace, name: name ?? "" });
    const targetPort = service?.spec.ports?.find(({ port }) => port === at)?.targetPort;
    const pods = informers.for(Pod).list(namespace);
    return pods.flatMap((pod) => {
      const ip = readyIp(pod);
      if (ip === undefined || !selects(service?.spec.selector, pod.metadata.labels)) return [];
      const ports = pod.spec.containers.flatMap((container) => container.ports ?? []);
      const port =
        typeof targetPort === "string" ? ports.find((each) => each.name === targetPort)?.containerPort : targetPort;
      return port === undefined ? [] : [{ ip, port }];
    });
  }

  async #assign({ metadata, spec, status }: Service, ip: string): Promise<void> {
    if (spec.type !== "LoadBalancer" || status?.loadBalancer?.ingress !== undefined) return;
    const { namespace = "", name } = metadata;
    const body = { status: { loadBalancer: { ingress: [{ ip }] } } };
    await this.#options.client.patch(Service, { namespace, name }, { type: "merge", body }, { subresource: "status" });
  }
}

function selects(
  selector: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return selector !== undefined && Object.entries(selector).every(([name, value]) => labels[name] === value);
}
