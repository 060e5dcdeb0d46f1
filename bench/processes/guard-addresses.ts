/** Addresses of a guard. */
export interface GuardAddresses {
  /** `grpc://host:port` */
  readonly grpc: string;
  /** `http://host:port` */
  readonly http: string;
}
