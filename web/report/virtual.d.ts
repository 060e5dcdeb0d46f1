/** The script and the styles of the page, as inlined by the build. */
declare module 'report:script' {
  const text: string;
  export default text;
}
declare module 'report:styles' {
  const text: string;
  export default text;
}
