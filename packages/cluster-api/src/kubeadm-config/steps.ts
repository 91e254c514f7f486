/** What can be done for a KubeadmConfig. Steps carry no secret: token and user data are made while performing. */
export type ConfigStep =
  | { readonly do: "createDataSecret" }
  /** Puts another token into the data Secret; the one before expires. */
  | { readonly do: "rotateToken" }
  | { readonly do: "createToken"; readonly expires: number }
  | { readonly do: "extendToken"; readonly name: string; readonly expires: number }
  | { readonly do: "deleteToken"; readonly name: string };
