/** What can be done for a KubeadmConfig. Steps carry no secret: token and user data are made while performing. */
export type ConfigStep =
  | { readonly type: "create-data-secret" }
  /** Lets this machine initialise the control plane, unless another one was first. */
  | { readonly type: "acquire-lock" }
  | { readonly type: "release-lock"; readonly uid: string }
  /** Puts another token into the data Secret; the one before expires. */
  | { readonly type: "rotate-token" }
  | { readonly type: "create-token"; readonly expires: number }
  | { readonly type: "extend-token"; readonly name: string; readonly expires: number }
  | { readonly type: "delete-token"; readonly name: string };
