import { ConfigMap, type Informer, type Informers } from "@causeway/kubernetes";
import type { IngressClass } from "../objects/ingress.ts";

/** The ConfigMaps that classes name as their parameters, each watched by its name. */
export class ClassMaps {
  readonly #informers: Informers;
  readonly #watched = new Map<string, Informer<ConfigMap>>();
  readonly #changed: ((className: string) => void)[] = [];

  constructor(informers: Informers) {
    this.#informers = informers;
  }

  /** Called with the class whose parameters changed. */
  onChange(handler: (className: string) => void): () => void {
    this.#changed.push(handler);
    return () => void this.#changed.splice(this.#changed.indexOf(handler), 1);
  }

  /**
   * Undefined: the class has no parameters. A ConfigMap that does not exist is an empty one with a key that is refused.
   */
  async of({ metadata, spec }: IngressClass, signal: AbortSignal): Promise<ConfigMap | undefined> {
    const parameters = spec?.parameters;
    if (!parameters) return undefined;
    const { kind, name, namespace } = parameters;
    if (kind !== "ConfigMap" || (parameters.apiGroup ?? "") !== "" || namespace === undefined)
      return refused(`parameters of kind ${kind}; they may be a ConfigMap of a namespace`);
    const informer = this.#watch(metadata.name, { namespace, name });
    await informer.whenSynced(signal);
    return informer.get({ namespace, name }) ?? refused(`ConfigMap ${namespace}/${name}, which does not exist`);
  }

  #watch(className: string, { namespace, name }: { namespace: string; name: string }): Informer<ConfigMap> {
    const id = `${className} ${namespace}/${name}`;
    const known = this.#watched.get(id);
    if (known) return known;
    const informer = this.#informers.for(ConfigMap, { namespace, fieldSelector: `metadata.name=${name}` });
    informer.onChange(() => this.#changed.forEach((changed) => changed(className)));
    this.#watched.set(id, informer);
    return informer;
  }
}

function refused(why: string): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "" }, data: { [why]: "" } };
}
