/** What `npm run test:programs` found or built. */
/** Where programs are, or why there are none. */
type Place =
  | {
      readonly dir: string;
    }
  | {
      readonly reason: string;
    };
interface Programs {
  readonly kubernetes: Place;
  /** Files, newest first. */
  readonly kubectls: readonly string[];
  readonly clusterApi: Place;
  /** The OpenStack provider of Cluster API. */
  readonly capo: Place;
  readonly probe: Place;
  /** Konnectivity's server and agent. */
  readonly konnectivity: Place;
  /** The CRDs of the Gateway API: a folder for each of its channels. */
  readonly gatewayApi: Place;
  /** The stock CSI sidecars. */
  readonly sidecars: Place;
}
export declare function programs(): Programs;
export {};
