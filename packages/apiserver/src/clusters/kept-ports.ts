import { stateFiles, type StateFiles } from "../store/state-files.ts";
import { at } from "../json/json.ts";

/** A port that a cluster has, or comes back at. */
interface KeptPort {
  readonly cluster: string;
  readonly port: number;
  readonly folder: string;
}

/** Addresses of all interfaces. */
const ANY = ["0.0.0.0", "::"];

/**
 * Ports of clusters, whether these are served now or not: kubeconfigs and nodes hold them. One that is parked for a
 * moment, or cannot be opened, must find its own again.
 */
export class KeptPorts {
  readonly #files: StateFiles;
  /** Of the files: each has clusters below it. */
  readonly #places: () => readonly string[];
  /** By folder: each creation of a cluster needs all of them, which are read once. */
  #read = new Map<string, { readonly stamp: string; readonly port: number }>();

  /** `around` is the folder of the state folders of all worker processes; undefined: there is one state folder. */
  constructor(own: StateFiles, around: string | undefined) {
    const shared = around === undefined ? undefined : stateFiles(around);
    this.#files = shared ?? own;
    this.#places = () => (shared ? shared.names("").map((worker) => `${worker}/clusters`) : ["clusters"]);
  }

  /** Those of all clusters but one. */
  others(name: string): ReadonlySet<number> {
    return new Set(this.#all(name).map(({ port }) => port));
  }

  /** The other cluster that has this port of this host. */
  ownerOf({ host, port }: { readonly host: string; readonly port: number }, name: string): string | undefined {
    const isSame = (other: string): boolean => other === host || ANY.includes(other) || ANY.includes(host);
    return this.#all(name, port).find(({ folder }) => isSame(this.#hostOf(folder) ?? host))?.cluster;
  }

  #hostOf(folder: string): string | undefined {
    const found = at(JSON.parse(this.#files.read(`${folder}/cluster.json`) ?? "{}") as unknown, "listen", "host");
    return typeof found === "string" ? found : undefined;
  }

  /** Those of all clusters but one, or those alone that are `wanted`. */
  #all(except: string, wanted?: number): readonly KeptPort[] {
    const before = this.#read;
    this.#read = new Map();
    return this.#places().flatMap((place) =>
      this.#files.names(place).flatMap((cluster) => {
        const folder = `${place}/${cluster}`;
        const port = this.#portIn(folder, before.get(folder));
        if (cluster === except || port === undefined || (wanted !== undefined && port !== wanted)) return [];
        // Without options it is what is left of one that never was.
        return this.#files.stamp(`${folder}/cluster.json`) === undefined ? [] : [{ cluster, port, folder }];
      }),
    );
  }

  #portIn(folder: string, known: { readonly stamp: string; readonly port: number } | undefined): number | undefined {
    const file = `${folder}/port`;
    const stamp = this.#files.stamp(file);
    const text = stamp === undefined || stamp === known?.stamp ? undefined : this.#files.read(file);
    const port = text === undefined ? known?.port : Number(text);
    if (stamp === undefined || port === undefined) return undefined;
    this.#read.set(folder, { stamp, port });
    return port;
  }
}
