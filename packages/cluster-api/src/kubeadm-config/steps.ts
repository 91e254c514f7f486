/** What can be done for a KubeadmConfig. Steps carry no secret: token and user data are made while performing. */
export type ConfigStep =
  | { readonly do: "createDataSecret" }
  /** Lets this machine initialise the control plane, unless another one was first. */
  | { readonly do: "acquireLock" }
  | { readonly do: "releaseLock"; readonly uid: string }
  /** Puts another token into the data Secret; the one before expires. */
  | { readonly do: "rotateToken" }
  | { readonly do: "createToken"; readonly expires: number }
  | { readonly do: "extendToken"; readonly name: string; readonly expires: number }
  | { readonly do: "deleteToken"; readonly name: string };
