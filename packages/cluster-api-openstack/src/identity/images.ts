import type { Condition, Informer, Informers, KubeObject, ObjectKey, ResourceType } from "@causeway/kubernetes";

/** An Image of OpenStack Resource Controller, as far as its users read it. */
interface OrcImage extends KubeObject {
  readonly status?: { readonly id?: string; readonly conditions?: Condition[] };
}
const OrcImage: ResourceType<OrcImage> = {
  group: "openstack.k-orc.cloud",
  version: "v1alpha1",
  kind: "Image",
  plural: "images",
  namespaced: true,
};

/** The Glance ID of an Image once it is Available; before that `message` says what its user waits for. */
export interface FoundImage {
  readonly name: string;
  readonly id?: string | undefined;
  readonly message?: string | undefined;
}

/** The value by which an object waits for an Image. */
export function imageInterest({ namespace, name }: ObjectKey): string {
  return `orc-image:${namespace}/${name}`;
}

/**
 * Images of OpenStack Resource Controller. They are watched from the first use on: a management cluster without their
 * CRD is not queried for them.
 */
export class ImageReferences {
  readonly #informers: Informers;
  readonly #changed: (interest: string) => void;
  #images: Informer<OrcImage> | undefined;

  constructor(informers: Informers, changed: (interest: string) => void) {
    this.#informers = informers;
    this.#changed = changed;
  }

  get(key: ObjectKey): FoundImage {
    const { name } = key;
    const image = this.#watched().get(key);
    if (!image) return { name, message: `Image ${name} (openstack.k-orc.cloud) to exist` };
    const available = image.status?.conditions?.find((c) => c.type === "Available");
    const { id } = image.status ?? {};
    if (id !== undefined && available?.status === "True") return { name, id };
    const why = available?.message ? `: ${available.message}` : "";
    return { name, message: `Image ${name} (openstack.k-orc.cloud) to be Available${why}` };
  }

  #watched(): Informer<OrcImage> {
    if (this.#images) return this.#images;
    this.#images = this.#informers.for(OrcImage);
    this.#images.onChange(({ object: { metadata } }) =>
      this.#changed(imageInterest({ namespace: metadata.namespace ?? "", name: metadata.name })),
    );
    return this.#images;
  }
}
