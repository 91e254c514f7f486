import {
  apiVersionOf,
  CustomResourceDefinition,
  watchInformer,
  type Informer,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
  type Source,
} from "@causeway/kubernetes";
import { optionalKinds } from "../render/optional-types.ts";

/** Kinds of other operators: their objects are read as soon as the server has their CRD. */
export interface OptionalKinds {
  /** Kinds that the server has. */
  served(): ReadonlySet<string>;
  /** False while objects of a kind that the server has are still being listed. */
  isSynced(): boolean;
  readonly informers: () => readonly Informer<KubeObject>[];
  /** Changes of these objects, and of what is served. */
  source(ownerOf: (object: KubeObject) => readonly ObjectKey[], everyKey: () => readonly ObjectKey[]): Source;
}

type Open = (type: ResourceType<KubeObject>, label: string) => Informer<KubeObject>;

/** Opens an informer of a kind once its CRD is there. `indexed` opens it with a label. */
export function openOptionalKinds(informers: Informers, indexed: Open): OptionalKinds {
  const crds = informers.for({ ...CustomResourceDefinition, metadataOnly: true });
  const open = new Map<string, Informer<KubeObject>>();
  const opened = new Set<(informer: Informer<KubeObject>) => void>();
  const kindOf = ({ metadata }: KubeObject) =>
    optionalKinds.find(({ type: { plural, group } }) => `${plural}.${group}` === metadata.name);
  crds.onChange(({ type, object }) => {
    const kind = kindOf(object);
    if (!kind || type === "deleted" || open.has(kind.type.kind)) return;
    const informer = indexed(kind.type, kind.label);
    open.set(kind.type.kind, informer);
    for (const handler of opened) handler(informer);
  });
  const served = () => new Set(crds.list().flatMap((crd) => kindOf(crd)?.type.kind ?? []));
  return {
    served,
    isSynced: () => [...served()].every((kind) => open.get(kind)?.synced === true),
    informers: () => [...open.values()],
    source: (ownerOf, everyKey) => (enqueue) => {
      const stops = [watchInformer(crds, (change) => (kindOf(change.object) ? everyKey() : []))(enqueue)];
      const follow = (informer: Informer<KubeObject>): void => {
        stops.push(watchInformer(informer, ({ object }) => ownerOf(object))(enqueue));
        // Without an object there is no change that says that all are known.
        void informer.whenSynced().then(() => {
          for (const key of everyKey()) enqueue(key);
        });
      };
      open.forEach(follow);
      opened.add(follow);
      return () => {
        opened.delete(follow);
        for (const stop of stops) stop();
      };
    },
  };
}

/** The type of an object of another operator; undefined: it is of none. */
export const optionalTypeOf = ({ apiVersion, kind }: KubeObject): ResourceType<KubeObject> | undefined =>
  optionalKinds.find(({ type }) => type.kind === kind && apiVersionOf(type) === apiVersion)?.type;
