import { EndpointSlice, type Informer, type Informers, type ObjectKey } from "@causeway/kubernetes";
import { SERVICE_LABEL } from "./endpoints.ts";

/** EndpointSlices by their Service. They are watched once a load balancer has pods as members, and not before. */
export class PodEndpoints {
  readonly #informers: Informers;
  readonly #changed: ((service: ObjectKey) => void)[] = [];
  #informer: Informer<EndpointSlice> | undefined;

  constructor(informers: Informers) {
    this.#informers = informers;
  }

  /** Called with the Service whose endpoints changed. */
  onChange(handler: (service: ObjectKey) => void): () => void {
    this.#changed.push(handler);
    return () => void this.#changed.splice(this.#changed.indexOf(handler), 1);
  }

  /** By the names of the Services, "namespace/name". */
  async of(services: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, readonly EndpointSlice[]>> {
    const informer = this.#watched();
    await informer.whenSynced(signal);
    return new Map([...new Set(services)].map((name) => [name, informer.byIndex("service", name)]));
  }

  #watched(): Informer<EndpointSlice> {
    if (this.#informer) return this.#informer;
    const informer = this.#informers.for(EndpointSlice);
    this.#informers.index(informer, {
      service: (slice) => serviceOf(slice).map(({ namespace, name }) => `${namespace}/${name}`),
    });
    informer.onChange(({ object, previous }) => {
      const keys = [...serviceOf(object), ...(previous ? serviceOf(previous) : [])];
      for (const key of keys) for (const changed of this.#changed) changed(key);
    });
    this.#informer = informer;
    return informer;
  }
}

function serviceOf({ metadata: { namespace = "", labels } }: EndpointSlice): ObjectKey[] {
  const name = labels?.[SERVICE_LABEL];
  return name === undefined ? [] : [{ namespace, name }];
}
