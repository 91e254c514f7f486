/** What `npm run test:programs` found or built. */

/** Where programs are, or why there are none. */
type Place = { readonly dir: string } | { readonly reason: string };

interface Programs {
  readonly kubernetes: Place;
  /** Files, newest first. */
  readonly kubectls: readonly string[];
  readonly clusterApi: Place;
  /** The OpenStack provider of Cluster API. */
  readonly capo: Place;
  /** And `streams`, the part of a kubelet that serves exec and port-forward. */
  readonly probe: Place;
  /** Konnectivity's server and agent. */
  readonly konnectivity: Place;
  /** The CRDs of the Gateway API: a folder for each of its channels. */
  readonly gatewayApi: Place;
  /** The stock CSI sidecars. */
  readonly sidecars: Place;
  /** With the API of S3. */
  readonly objectStorage: Place;
  /** Argo CD's controller and repository server. */
  readonly argo: Place;
  /** etcd and the control plane of the minor before. */
  readonly previous: Place & { readonly version: string };
}

export function programs(): Programs {
  const said = process.env["CAUSEWAY_PROGRAMS"];
  if (said === undefined) throw new Error("CAUSEWAY_PROGRAMS is not set; use npm run test:programs");
  return JSON.parse(said) as Programs;
}
