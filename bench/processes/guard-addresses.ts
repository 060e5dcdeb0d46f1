/** Where a guard listens. */
export interface GuardAddresses {
  /** `grpc://host:port` */
  readonly grpc: string;
  /** `http://host:port` */
  readonly http: string;
}
