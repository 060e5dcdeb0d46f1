process.stdout.write('guardsweep\n');
