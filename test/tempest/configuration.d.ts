/** A cloud as tempest is to see it: its administrator in a clouds.yaml. */
export interface TempestCloud {
  /** The entry of the administrator. */
  readonly cloud: string;
  readonly text: string;
}
/**
 * tempest.conf for a cloud that has flavors m1.tiny and m1.small, two images and an external network "public", as devcloud and the
 * simulated cloud have. What neither cloud has is switched off, so that it is skipped on both. Accounts are made by tempest itself.
 */
export declare function tempestConf({ cloud, text }: TempestCloud, folder: string): Promise<string>;
