/**
 * Version of the rules by which images and audio are brought into normal form. Part of what identifies content: the
 * same file under other rules is another question to the guard.
 */
export const NORMALIZATION = 'normal-1';
