/** What runs of the new release while a cloud is upgraded, in the order in which it began. */
import { NAME } from "./cloud.ts";
import type { Rig } from "./rig.ts";

const COMPONENT = "openstack.causeway.dev/component";
const MESSAGES = "openstack.causeway.dev/messages";

interface Pods {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly spec: { readonly containers: readonly { readonly image: string }[] };
    readonly status: { readonly startTime?: string };
  }[];
}

export interface Begun {
  readonly component: string;
  readonly startTime: string;
  /** The release whose messages a process of Nova may send. */
  readonly messages: string | undefined;
}

export class UpgradeWatch {
  readonly #rig: Rig;
  readonly #release: string;
  readonly #begun = new Map<string, Begun>();

  constructor(rig: Rig, release: string) {
    this.#rig = rig;
    this.#release = release;
  }

  /** Notes the pods of the release that are there now. */
  read(): void {
    const { items } = this.#rig.get<Pods>("pods", "-l", `openstack.causeway.dev/deployment=${NAME}`);
    for (const { metadata, spec, status } of items) {
      const isNew = spec.containers.some(({ image }) => image.endsWith(`:${this.#release}`));
      if (!isNew || status.startTime === undefined || this.#begun.has(metadata.name)) continue;
      const component = metadata.labels[COMPONENT] ?? "";
      const messages = metadata.annotations?.[MESSAGES];
      this.#begun.set(metadata.name, { component, startTime: status.startTime, messages });
    }
  }

  get components(): Set<string> {
    return new Set([...this.#begun.values()].map(({ component }) => component));
  }

  /** When the first pod of each of these began, in milliseconds. */
  firstOf(components: readonly string[]): number[] {
    return components.map((component) =>
      Math.min(...this.podsOf(component).map(({ startTime }) => Date.parse(startTime))),
    );
  }

  podsOf(component: string): Begun[] {
    return [...this.#begun.values()]
      .filter((each) => each.component === component)
      .toSorted((a, b) => Date.parse(a.startTime) - Date.parse(b.startTime));
  }
}
