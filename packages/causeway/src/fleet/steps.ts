/** What the fleet does for one workload cluster. */
export type Step =
  /** Holds the control plane, whose API alone knows all load balancers of the cluster. */
  | { readonly type: "hold-control-plane" }
  | { readonly type: "start-member" }
  /** One that is to serve again is started by the next plan. */
  | { readonly type: "stop-member" }
  /** Starts to delete the load balancers of the cluster. */
  | { readonly type: "release-load-balancers" }
  /** The API is gone: what the load balancers are is read from their names in the cloud. */
  | { readonly type: "sweep-load-balancers" }
  | { readonly type: "release-control-plane" };
