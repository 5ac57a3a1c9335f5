// Package backend opens devices by name. It is the only package that names all drivers.
package backend
